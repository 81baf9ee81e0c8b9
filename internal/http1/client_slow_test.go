package http1

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// piped returns a transport under fake time, whose ReadTimeout is a second, and the server's
// end of the one connection that it has.
func piped(t *testing.T) (*Transport, net.Conn) {
	t.Helper()
	transport := NewTransport(TransportSettings{ReadTimeout: time.Second})
	t.Cleanup(transport.CloseIdle)
	return transport, idle(t, transport.pool, origin{"http", "a:1"})
}

func send(t *testing.T, transport *Transport, method string, header http.Header, body io.Reader) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://a:1/", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	return transport.RoundTrip(r)
}

// slowly yields some pieces, each after a minute.
type slowly struct{ pieces int }

func (s *slowly) Read(p []byte) (int, error) {
	if s.pieces == 0 {
		return 0, io.EOF
	}
	s.pieces--
	<-time.After(time.Minute)
	return copy(p, "piece"), nil
}

// The server's time to answer begins when the upload is over, however long that
// has taken.
func TestSlowUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, far := piped(t)
		go func() {
			in := bufio.NewReader(far)
			for answer := "HTTP/1.1 204 No Content\r\n\r\n"; ; answer = "" {
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if answer != "" {
					_, _ = io.WriteString(far, answer)
				}
			}
		}()
		res, err := send(t, transport, http.MethodPost, nil, &slowly{3})
		if err != nil || res.StatusCode != http.StatusNoContent {
			t.Fatalf("got %v, %v", res, err)
		}
		_ = res.Body.Close()
		start := time.Now()
		if _, err := send(t, transport, http.MethodPost, nil, &slowly{1}); !errors.Is(err, ErrReadTimeout) { //nolint:bodyclose // there is none
			t.Errorf("error %v, want the read timeout", err)
		}
		if took := time.Since(start); took != time.Minute+time.Second {
			t.Errorf("the server had %v to answer", took-time.Minute)
		}
	})
}

// A tunnel may be silent for longer than the read timeout.
func TestSilentTunnel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, far := piped(t)
		go func() {
			if _, err := http.ReadRequest(bufio.NewReader(far)); err != nil {
				return
			}
			_, _ = io.WriteString(far, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
			<-time.After(time.Hour)
			_, _ = io.WriteString(far, "late")
			_ = far.Close()
		}()
		res, err := send(t, transport, http.MethodGet, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"x"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var got strings.Builder
		if _, err := io.Copy(&got, res.Body); err != nil || got.String() != "late" {
			t.Errorf("C100 read %q, %v", got.String(), err)
		}
	})
}
