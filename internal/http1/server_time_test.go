package http1_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

// pipeTo serves with s on an in-memory network and returns a connection to it.
// It is for tests under fake time.
func pipeTo(t *testing.T, s engine) net.Conn {
	t.Helper()
	network := memhttp.NewNetwork()
	l, err := network.Listen("g.test:80")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, err := network.Dial(t.Context(), "mem", "g.test:80")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = s.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
	})
	return conn
}

func sendTo(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if text == "" {
		return // a pipe would deliver it
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// answerOf reads one response without a body.
func answerOf(t *testing.T, conn net.Conn) string {
	t.Helper()
	var got []byte
	one := make([]byte, 1)
	for !strings.HasSuffix(string(got), "\r\n\r\n") {
		if _, err := conn.Read(one); err != nil {
			t.Fatalf("received %q and then %v", got, err)
		}
		got = append(got, one[0])
	}
	return statuses(string(got))
}

// TestServerWaits shows what the server waits for, and for how long: between
// the limit and two ticks more.
func TestServerWaits(t *testing.T) {
	const limit = 5 * time.Second
	settings := map[string]*http1.Server{
		"header":         {HeaderTimeout: limit},
		"idle":           {IdleTimeout: limit},
		"idle or header": {IdleTimeout: limit, HeaderTimeout: time.Minute},
	}
	tests := map[string]struct {
		server string
		sent   []string // answered but for the last
		want   string   // statuses of what comes before the end
	}{
		"C228 a nothing":          {"header", []string{""}, ""},
		"C228 b half a preface":   {"header", []string{"PRI * HT"}, "408"},
		"C228 e half a head":      {"header", []string{"GET / HTTP/1.1\r\nHost: g"}, "408"},
		"C228 f half of a second": {"header", []string{get, "GET / HT"}, "408"},
		"idle":                    {"idle", []string{get, ""}, ""},
		"an idle connection has no header to await": {"idle or header", []string{get, get, ""}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := settings[test.server]
				conn := pipeTo(t, &http1.Server{
					Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), HeaderTimeout: s.HeaderTimeout, IdleTimeout: s.IdleTimeout,
				})
				last := len(test.sent) - 1
				for _, text := range test.sent[:last] {
					sendTo(t, conn, text)
					answerOf(t, conn)
				}
				start := time.Now()
				sendTo(t, conn, test.sent[last])
				got, _ := io.ReadAll(conn)
				if statuses(string(got)) != test.want {
					t.Errorf("received %q, want %s", got, test.want)
				}
				wantBetween(t, time.Since(start), limit, limit+200*time.Millisecond)
			})
		})
	}
}

// TestServerDozing: a connection that has idled for long serves as before, and
// closes as before.
func TestServerDozing(t *testing.T) {
	start := func(t *testing.T) (*http1.Server, net.Conn) {
		t.Helper()
		s := &http1.Server{IdleTimeout: time.Hour, HeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(
			func(http.ResponseWriter, *http.Request) {})}
		conn := pipeTo(t, s)
		for _, pause := range []time.Duration{0, tick / 2, tick, 2 * tick, 3 * tick, time.Minute, 50 * time.Minute} {
			<-time.After(pause)
			sendTo(t, conn, get[:10])
			<-time.After(time.Second)
			sendTo(t, conn, get[10:])
			if got := answerOf(t, conn); got != "200" {
				t.Fatalf("status %s after %v", got, pause)
			}
		}
		return s, conn
	}
	t.Run("idle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, conn := start(t)
			since := time.Now()
			if got, _ := io.ReadAll(conn); len(got) > 0 {
				t.Errorf("received %q", got)
			}
			wantBetween(t, time.Since(since), time.Hour, time.Hour+200*time.Millisecond)
		})
	})
	t.Run("shut down", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, _ := start(t)
			<-time.After(time.Minute)
			since := time.Now()
			if err := s.Shutdown(t.Context()); err != nil || time.Since(since) > 0 {
				t.Errorf("%v after %v", err, time.Since(since))
			}
		})
	})
}

// TestServerControllerDeadlines: deadlines that a handler sets hold for its
// request, and spare the next one.
func TestServerControllerDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := make(chan error, 1)
		conn := pipeTo(t, &http1.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			soon := time.Now().Add(time.Second)
			if err := errors.Join(control.EnableFullDuplex(), control.SetReadDeadline(soon), control.SetWriteDeadline(soon)); err != nil {
				t.Error(err)
			}
			_, err := io.ReadAll(r.Body)
			failures <- err
		})})
		for _, request := range []string{get, get, "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\n\r\n"} {
			<-time.After(time.Minute)
			sendTo(t, conn, request)
			err := <-failures
			if failed := errors.Is(err, os.ErrDeadlineExceeded); failed != strings.HasPrefix(request, "POST") {
				t.Errorf("reading failed with %v", err)
			}
			if err == nil {
				answerOf(t, conn)
			}
		}
	})
}

// tick is the grain of the server's clock.
const tick = 100 * time.Millisecond

func wantBetween(t *testing.T, got, least, most time.Duration) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("it took %v, want %v to %v", got, least, most)
	}
}

// TestServerHandshakeWaits C228 c, d: TLS does not lift the limits.
func TestServerHandshakeWaits(t *testing.T) {
	const limit = 5 * time.Second
	start := func(t *testing.T) net.Conn {
		t.Helper()
		return pipeTo(t, tlsEngine{&http1.Server{Handler: http.HandlerFunc(hello), HeaderTimeout: limit}, certified(t)})
	}
	t.Run("C228 c half a ClientHello", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			conn := start(t)
			since := time.Now()
			sendTo(t, conn, "\x16\x03\x01\x02\x00\x01\x00")
			_, _ = io.ReadAll(conn)
			wantBetween(t, time.Since(since), limit, limit+2*tick)
		})
	})
	t.Run("C228 d TLS and then nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			secure := tls.Client(start(t), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test's
			since := time.Now()
			if err := secure.HandshakeContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(secure); len(got) > 0 || err != nil {
				t.Errorf("http M54 received %q and %v", got, err)
			}
			wantBetween(t, time.Since(since), limit, limit+2*tick)
		})
	})
}

// TestServerAcceptErrors C258: running out of descriptors ends nothing.
func TestServerAcceptErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		since := time.Now()
		conn := pipeTo(t, exhausted{&http1.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}})
		sendTo(t, conn, get)
		if got := answerOf(t, conn); got != "200" {
			t.Errorf("status %s", got)
		}
		wantBetween(t, time.Since(since), time.Second, 10*time.Second) // pauses, that is, no busy loop
	})
}

// exhausted is a server whose listener has no descriptors to begin with.
type exhausted struct{ *http1.Server }

func (e exhausted) Serve(l net.Listener) error { return e.Server.Serve(&poorListener{Listener: l}) }

type poorListener struct {
	net.Listener
	failures int
}

func (l *poorListener) Accept() (net.Conn, error) {
	if l.failures++; l.failures < 10 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

func TestServerBodyTimeout(t *testing.T) {
	const upload = "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\n\r\n"
	const limit = 5 * time.Second
	store := func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		if refused, ok := errors.AsType[*http1.Error](err); ok {
			w.WriteHeader(refused.Status)
		}
	}
	t.Run("C229 a body that never comes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			conn := pipeTo(t, &http1.Server{Handler: http.HandlerFunc(store), BodyTimeout: limit})
			start := time.Now()
			sendTo(t, conn, upload)
			got, _ := io.ReadAll(conn)
			if statuses(string(got)) != "408" || !strings.Contains(string(got), "Connection: close") {
				t.Errorf("received %q, want 408 and close", got)
			}
			wantBetween(t, time.Since(start), limit, limit+200*time.Millisecond)
		})
	})
	t.Run("C064 a slow body that makes progress", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			conn := pipeTo(t, &http1.Server{Handler: http.HandlerFunc(store), BodyTimeout: limit})
			sendTo(t, conn, upload)
			for _, piece := range []string{"a", "b", "c", "d", "e"} {
				<-time.After(limit - time.Second)
				sendTo(t, conn, piece)
			}
			if got := answerOf(t, conn); got != "200" {
				t.Errorf("status %s, want 200", got)
			}
		})
	})
	t.Run("a handler takes its time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			conn := pipeTo(t, &http1.Server{BodyTimeout: limit, HeaderTimeout: limit, IdleTimeout: limit, Handler: http.HandlerFunc(
				func(w http.ResponseWriter, r *http.Request) {
					<-time.After(time.Hour)
					store(w, r)
				})})
			sendTo(t, conn, upload)
			go func() { _, _ = io.WriteString(conn, "abcde") }()
			if got := answerOf(t, conn); got != "200" {
				t.Errorf("status %s, want 200", got)
			}
		})
	})
}

func TestServerWriteTimeout(t *testing.T) {
	const limit = 5 * time.Second
	large := make([]byte, 1<<20)
	serve := func(t *testing.T) (conn net.Conn, written chan error) {
		t.Helper()
		written = make(chan error, 1)
		return pipeTo(t, &http1.Server{WriteTimeout: limit, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				_, err := w.Write(large)
				written <- err
				if r.Context().Err() == nil && err != nil {
					t.Error("the context lives on")
				}
			})}), written
	}
	t.Run("a client that takes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			conn, written := serve(t)
			start := time.Now()
			sendTo(t, conn, get)
			if _, ok := errors.AsType[*http1.WriteError](<-written); !ok {
				t.Error("the write did not fail")
			}
			wantBetween(t, time.Since(start), limit, limit+200*time.Millisecond)
		})
	})
	t.Run("a slow client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			conn, written := serve(t)
			sendTo(t, conn, get)
			piece := make([]byte, 32<<10)
			for range 10 {
				<-time.After(limit / 3)
				if _, err := io.ReadFull(conn, piece); err != nil {
					t.Fatal(err)
				}
			}
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			if err := <-written; err != nil {
				t.Error(err)
			}
		})
	})
}
