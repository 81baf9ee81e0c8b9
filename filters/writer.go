package filters

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// writer is the client's side of a request. It remembers whether a final
// response head has left, after which nothing but its body can be sent.
type writer struct {
	http.ResponseWriter
	committed bool
	status    int
	switched  http.Header // of the 101; nil without one
	written   int64       // bytes of the body
	echo, id  string      // a field of the final response, and its value; empty for none
}

var _ io.ReaderFrom = (*writer)(nil)

func (w *writer) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.commit(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// headSender is a client's side that takes a whole head at once. SendHead may change
// header and does not keep it; it does nothing if it fails or returns false.
type headSender interface {
	SendHead(status int, header http.Header, length int64) (bool, error)
}

// SendHead sends the head of the final response with that header, in which
// Content-Length and Content-Type are what the arguments say and nothing else:
// length -1 stands for none. It returns false if that has to be done in the
// usual way.
func (w *writer) SendHead(status int, header http.Header, length int64) (sent bool, err error) {
	client, able := w.ResponseWriter.(headSender)
	if !able || w.committed {
		return false, nil
	}
	w.echoID(header)
	sent, err = client.SendHead(status, header, length)
	if sent {
		w.commit(status)
	}
	return sent, err
}

// sentTeller is a client's side that knows what its head holds.
type sentTeller interface{ SentField(name string) []string }

// sent is a field of the final response, by its canonical name.
func (w *writer) sent(name string) []string {
	client, able := w.ResponseWriter.(sentTeller)
	switch {
	case !w.committed:
		return nil
	case w.switched != nil:
		return w.switched[name]
	case able:
		return client.SentField(name)
	}
	return w.Header()[name]
}

func (w *writer) Write(p []byte) (int, error) {
	w.commit(http.StatusOK)
	n, err := w.ResponseWriter.Write(p)
	w.written += int64(n)
	return n, err
}

func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	w.commit(http.StatusOK)
	n, err := io.Copy(w.ResponseWriter, r)
	w.written += n
	return n, err
}

// FlushError sends a 200 head if there was none yet.
func (w *writer) FlushError() error {
	w.commit(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack leaves the connection to the caller.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.committed = w.committed || err == nil
	return conn, rw, err
}

func (w *writer) commit(status int) {
	if !w.committed {
		w.committed, w.status = true, status
		w.echoID(w.Header())
	}
}

// Unwrap lets http.ResponseController reach the deadlines and full duplex.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// nobody is the client of a cloned context.
type nobody struct{}

func (nobody) Header() http.Header         { return http.Header{} }
func (nobody) Write(p []byte) (int, error) { return len(p), nil }
func (nobody) WriteHeader(int)             {}
