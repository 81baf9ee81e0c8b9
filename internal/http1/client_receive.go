package http1

import (
	"net/http"
	"strconv"
	"strings"
)

// maxInterim bounds the interim responses to one request.
const maxInterim = 32

// receive reads the head of the final response.
func (x *trip) receive() error {
	h := &x.conn.head
	for range maxInterim {
		h.reset(responseHead)
		if err := h.read(&x.conn.reader, &x.transport.limits); err != nil {
			return asBadGateway(err)
		}
		if err := h.finishResponse(x.req.Method); err != nil {
			return err
		}
		if h.status >= http.StatusOK || h.status == http.StatusSwitchingProtocols {
			return nil
		}
		x.relayInterim(h)
	}
	return refuse(http.StatusBadGateway, "too many interim responses")
}

// relayInterim hands an interim response to the client's side. A 100 answers an
// expectation, which is a matter of one hop, and this one has not expressed any.
func (x *trip) relayInterim(h *head) {
	if x.downstream == nil || x.downstream.interim == nil || h.status == http.StatusContinue {
		return
	}
	header := make(http.Header, len(h.fields))
	h.fillHeader(header, nil)
	x.downstream.relayInterim(h.status, header)
}

// clientResponse is a response with its body and the values of most headers,
// allocated together.
type clientResponse struct {
	http.Response
	body   Body
	values [8]string
}

// respond makes the response of the head that has been read. A response without
// a body gives the connection back at once.
func (x *trip) respond() (*http.Response, error) {
	h := &x.conn.head
	l := lease{transport: x.transport, host: x.host, conn: x.conn, upload: x.upload}
	l.persistent = h.persistent() && !x.req.Close
	if x.upload.answered(!l.persistent && h.status >= http.StatusBadRequest) != nil {
		return nil, x.upload.failure()
	}
	if h.status == http.StatusSwitchingProtocols {
		return x.switchProtocols(l)
	}
	r := x.newResponse(h, !l.persistent)
	if h.framing == noBody {
		r.Body = http.NoBody
		l.end(true)
		return &r.Response, nil
	}
	r.body.start(l, r)
	r.Body = &r.body
	return &r.Response, nil
}

func (x *trip) newResponse(h *head, last bool) *clientResponse {
	header := x.into
	if header == nil {
		header = make(http.Header, len(h.fields))
	}
	r := &clientResponse{Response: http.Response{
		Status:        statusLine(h),
		StatusCode:    h.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    h.minor,
		Header:        header,
		ContentLength: h.length,
		Close:         last,
		Trailer:       h.announced(),
		Request:       x.req,
	}}
	if h.minor == 0 {
		r.Proto = "HTTP/1.0"
	}
	if h.framing == chunkedBody {
		r.TransferEncoding = []string{"chunked"}
	}
	h.fillHeader(r.Header, r.values[:])
	return r
}

// statusLine is what net/http calls the Status of a response.
func statusLine(h *head) string {
	if h.status == http.StatusOK && h.reason == "OK" {
		return "200 OK"
	}
	return strconv.Itoa(h.status) + " " + h.reason
}

// switchProtocols makes the response that turns the connection into a tunnel,
// if the server switches to what the client has offered.
func (x *trip) switchProtocols(l lease) (*http.Response, error) {
	h := &x.conn.head
	if !h.connection.has(upgradeOption) || !offered(x.req.Header["Upgrade"], h.upgrade) {
		return nil, refuse(http.StatusBadGateway, "switch to a protocol that was not offered")
	}
	r := x.newResponse(h, true)
	r.Body = newTunnel(l)
	return &r.Response, nil
}

func offered(upgrade []string, protocol string) bool {
	for _, list := range upgrade {
		for member := range members(list) {
			if strings.EqualFold(member, protocol) {
				return true
			}
		}
	}
	return false
}
