package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// The life of an HTTP/2 connection: its limits in time, and its end.

func TestH2Waits(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write(make([]byte, 1<<20))
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	g := startGateway(t, bothYAML(b.Addr)+withH2+"gateway.limits: {header-timeout: 5s, body-timeout: 5s, write-timeout: 5s, idle-timeout: 6s}\n")
	for _, kind := range kinds {
		for _, more := range [][]string{nil, {"content-length: 10"}} {
			t.Run(fmt.Sprint("C229 a body that never comes, ", kind, more), func(t *testing.T) {
				t.Parallel()
				c := g.dialH2()
				c.tb = t
				c.await(c.open(false, post2("/"+kind+"/x", more...)...)).wantStatus(t, http.StatusRequestTimeout)
			})
		}
	}
	t.Run("C064 a slow body", func(t *testing.T) {
		t.Parallel()
		c := g.dialH2()
		c.tb = t
		id := c.open(false, post2("/url/x")...)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for range 60 { // altogether longer than the limit
			<-tick.C
			c.must(c.WriteData(id, false, []byte("x")))
		}
		c.must(c.WriteData(id, true, nil))
		c.await(id).wantStatus(t, http.StatusOK)
	})
	t.Run("H05 a client that takes nothing", func(t *testing.T) {
		t.Parallel()
		c := g.dialH2(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		c.tb = t
		c.await(c.open(true, get2("/url/x")...)).wantReset(t, http2.ErrCodeInternal)
	})
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		c := g.dialH2()
		c.tb = t
		c.ask(get2("/nowhere")...).wantStatus(t, http.StatusNotFound)
		c.wantLeft()
	})
	t.Run("C228 nothing behind the preface", func(t *testing.T) {
		t.Parallel()
		c := dial(t, g.Proxy)
		write(t, c, http2.ClientPreface)
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("it stays open: %v", err)
		}
	})
}

func TestH2ConnectionsEnd(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	t.Run("after so many requests", func(t *testing.T) {
		t.Parallel()
		c := startGateway(t, bothYAML(m.Addr)+withH2+"gateway.limits.max-requests-per-connection: 3\n").dialH2()
		for range 3 {
			c.ask(get2("/url/x")...).wantStatus(t, http.StatusOK)
		}
		c.wantLeft()
	})
	t.Run("at an age", func(t *testing.T) {
		t.Parallel()
		c := startGateway(t, bothYAML(m.Addr)+withH2+"gateway.http2.max-connection-age: 5s\n").dialH2()
		c.ask(get2("/url/x")...).wantStatus(t, http.StatusOK)
		<-time.After(5 * time.Second)
		c.ask(get2("/url/x")...).wantStatus(t, http.StatusOK)
		c.wantLeft()
	})
	t.Run("C258 they count", func(t *testing.T) {
		t.Parallel()
		nativeOnly(t)
		g := startGateway(t, bothYAML(m.Addr)+withH2+"gateway.limits.max-connections: 3\n")
		var open []*h2client
		for range 3 {
			open = append(open, g.dialH2())
		}
		wantShed(t, dial(t, g.Proxy), http.StatusServiceUnavailable)
		for _, c := range open {
			c.conn.Close()
		}
		g.wantNoClients()
		for range 3 {
			g.dialH2().ask(get2("/url/x")...).wantStatus(t, http.StatusOK)
		}
	})
}

// C216: what is in flight is answered, the client is told to open nothing more.
func TestC216DrainOfHTTP2(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.yaml(0, patience)+withH2)
	c, idle := g.dialH2(), g.dialH2()
	id := c.open(true, get2("/slow/x")...)
	receive(t, "the request arrives", s.arrived)
	g.Signal(syscall.SIGTERM)
	idle.wantLeft()
	var away *http2.GoAwayFrame
	for away == nil {
		f, err := c.ReadFrame()
		c.must(err)
		away, _ = f.(*http2.GoAwayFrame)
	}
	if away.ErrCode != http2.ErrCodeNo || away.LastStreamID < id {
		t.Errorf("GOAWAY %v up to stream %d", away.ErrCode, away.LastStreamID)
	}
	close(s.finish)
	c.await(id).wantStatus(t, http.StatusOK)
	if _, err := c.drained(); !hasEnded(err) {
		t.Errorf("the connection ends with %v", err)
	}
	if code := g.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := s.Requests(); n != 1 {
		t.Errorf("the upstream has seen %d requests", n)
	}
}

// C217: what does not end in time is cut.
func TestC217DrainLimitOfHTTP2(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.yaml(0, 300*time.Millisecond)+withH2)
	c := g.dialH2()
	id := c.open(true, get2("/slow/x")...)
	receive(t, "the request arrives", s.arrived)
	g.Signal(syscall.SIGTERM)
	if a, err := c.follow(id); err == nil && a.Reset == nil {
		t.Errorf("answered with %d", a.Status)
	}
	receive(t, "the upstream call is cancelled", s.gone)
	g.ExitCode()
}
