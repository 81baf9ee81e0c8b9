package e2e_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// What an upstream sends is not for the log, however odd it is.
func TestLogQuotesNoResponse(t *testing.T) {
	t.Parallel()
	const secret = "sid=secret"
	answered, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	g := startGateway(t, bothYAML(serveConns(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if req.URL.Path == "/malformed" {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nSet-Cookie: "+secret+"\x00\r\n\r\n") // as the client will see
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") // as above
		<-answered
		_, _ = io.WriteString(c, "Set-Cookie: "+secret) // to one that closes then
		_, _ = io.Copy(io.Discard, in)
		ended <- struct{}{}
	}))+"logging.level.root: debug\n")
	for _, kind := range kinds {
		g.Get("/"+kind+"/malformed").wantStatus(t, http.StatusBadGateway)
		g.Get("/"+kind+"/surplus").wantStatus(t, http.StatusOK)
		answered <- struct{}{}
		receive(t, "the gateway closes the connection", ended)
	}
	if log := g.Log.String(); strings.Contains(log, "secret") {
		t.Errorf("the log says\n%s", log)
	}
}
