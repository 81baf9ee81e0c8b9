package http1

import (
	"net/http"
	"strconv"
)

// Refusal is the answer to a message that is refused before any handler, as it is sent.
type Refusal struct {
	*Error

	Remote string // whom the message came from
	Header http.Header
	Body   string
}

// Refuse makes the answer to a message from remote.
func Refuse(remote string, why *Error) Refusal {
	text := strconv.Itoa(why.Status) + " " + http.StatusText(why.Status) + ": " + why.Reason + "\n"
	return Refusal{why, remote, http.Header{
		"Content-Type":   {"text/plain; charset=utf-8"},
		"Content-Length": {strconv.Itoa(len(text))},
	}, text}
}

// refusal is one in HTTP/1.1, which ends the connection.
func (c *serverConn) refusal(why *Error) Refusal {
	r := Refuse(c.remote, why)
	r.Header["Date"], r.Header["Connection"] = []string{c.server.clock.date()}, []string{"close"}
	return r
}

func (o *output) refuse(r Refusal) error {
	o.begin()
	defer o.end()
	head, err := appendResponseHead(o.buf, r.Status, r.Header, message{framing: lengthBody, length: int64(len(r.Body)), close: true})
	if err != nil {
		return err
	}
	return o.write(append(head, r.Body...))
}
