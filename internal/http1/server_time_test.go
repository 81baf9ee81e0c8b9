package http1_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

// pipeTo serves with s on an in-memory network and returns a connection to it.
// It is for tests under fake time.
func pipeTo(t *testing.T, s *http1.Server) net.Conn {
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

func wantBetween(t *testing.T, got, least, most time.Duration) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("it took %v, want %v to %v", got, least, most)
	}
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
