package e2e_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// dialH2TLS opens an HTTP/2 connection over TLS.
func (g *gateway) dialH2TLS(config *tls.Config) *h2client {
	g.tb.Helper()
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	c, err := g.dialTLS(config)
	if err != nil {
		g.tb.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		g.tb.Fatal(err)
	}
	write(g.tb, c, http2.ClientPreface)
	return newH2(g.tb, c)
}

// getOver are the fields of a GET over TLS.
func getOver(authority, path string, more ...string) []string {
	return append([]string{":method: GET", ":scheme: https", ":authority: " + authority, ":path: " + path}, more...)
}

func TestH01ALPN(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, identify())
	with := startGateway(t, secureYAML(a.server.Issue("g.test"), b, withH2))
	without := startGateway(t, secureYAML(a.server.Issue("g.test"), b))
	for name, tt := range map[string]struct {
		g       *gateway
		offered []string
		want    string
	}{
		"H01 both":             {with, []string{"h2", "http/1.1"}, "h2"},
		"H01 the client's way": {with, []string{"http/1.1", "h2"}, "h2"},
		"H01 only 1.1":         {with, []string{"http/1.1"}, "http/1.1"},
		"H01 none":             {with, nil, ""},
		"H01 not wanted":       {without, []string{"h2", "http/1.1"}, "http/1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			config := a.trusting("g.test")
			config.NextProtos = tt.offered
			c, err := tt.g.dialTLS(config)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.ConnectionState().NegotiatedProtocol; got != tt.want {
				t.Errorf("%q was chosen, want %q", got, tt.want)
			}
		})
	}
	c := with.dialH2TLS(a.trusting("g.test"))
	if got := c.ask(getOver("g.test", "/api/x", "x-id: 7")...); got.Status != http.StatusOK || got.Body != "7" {
		t.Errorf("%d %q", got.Status, got.Body)
	}
	c.ask(getOver("g.test", "/nowhere")...).wantStatus(t, http.StatusNotFound)
	plain := dial(t, with.Proxy)
	write(t, plain, http2.ClientPreface)
	if _, err := io.Copy(io.Discard, plain); os.IsTimeout(err) {
		t.Error("a preface without TLS keeps the connection open")
	}
}

// The upstream learns of TLS what it would learn with HTTP/1.1.
func TestH2SaysTLS(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, fieldsBack())
	g := startGateway(t, secureYAML(a.server.Issue("g.test"), b, withH2))
	c := g.dialH2TLS(a.trusting("g.test"))
	for _, fields := range [][]string{getOver("g.test", "/api/x"), get2("/api/x")} { // H12: :scheme hides no TLS
		if got := c.ask(fields...).Body; !strings.Contains(got, "X-Forwarded-Proto: https\r\n") || !strings.Contains(got, "Via: 2.0 gozer\r\n") {
			t.Errorf("the upstream saw %s", got)
		}
	}
	c.ask(getOver("g.test", "api/x")...).wantRefused(t)
}

// H18 C209: with client certificates, a connection serves the host that it was opened for.
func TestH18AnotherAuthority(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, identify())
	g := startGateway(t, secureYAML(a.server.Issue("open.test", "secure.test"), b, withH2+"server.ssl: {client-auth: need, trust-certificate: "+a.trust+"}"))
	c := g.dialH2TLS(a.trusting("open.test", a.client.Issue("alice")))
	for _, step := range []struct {
		authority string
		status    int
	}{{"open.test", 200}, {"secure.test", 421}, {"OPEN.test:443", 200}} {
		c.ask(getOver(step.authority, "/api/x")...).wantStatus(t, step.status)
	}
}

func TestH2OverTLSEnds(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	s := startSlow(t)
	g := startGateway(t, secureYAML(a.server.Issue("g.test"), s.Backend, withH2+"gateway.limits.header-timeout: 5s"))
	t.Run("C228 nothing behind the handshake", func(t *testing.T) {
		config := a.trusting("g.test")
		config.NextProtos = []string{"h2"}
		c, err := g.dialTLS(config)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, c); os.IsTimeout(err) {
			t.Error("it stays open")
		}
	})
	t.Run("C233 pings", func(t *testing.T) {
		nativeOnly(t)
		c := g.dialH2TLS(a.trusting("g.test"))
		c.tb = t
		out := c.sender()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 5000 {
				if out.WritePing(false, [8]byte{}) != nil {
					return
				}
			}
		}()
		c.wantGoAway(http2.ErrCodeEnhanceYourCalm)
		c.conn.Close()
		<-done
	})
	t.Run("C216 drain", func(t *testing.T) {
		c := g.dialH2TLS(a.trusting("g.test"))
		c.tb = t
		id := c.open(true, getOver("g.test", "/api/x")...)
		receive(t, "the request arrives", s.arrived)
		g.Signal(syscall.SIGTERM)
		eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
		close(s.finish)
		c.await(id).wantStatus(t, http.StatusOK)
		c.wantLeft()
		wantExit(t, g.ExitCode(), 0)
	})
}

// Long bodies in both directions, by net/http's client.
func TestH2OverTLSLongBodies(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.Copy(w, r.Body)
	}))
	g := startGateway(t, secureYAML(a.server.Issue("g.test"), b, withH2))
	rt := &http.Transport{TLSClientConfig: a.trusting("g.test"), ForceAttemptHTTP2: true, DisableCompression: true}
	t.Cleanup(rt.CloseIdleConnections)
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+g.Proxy+"/api/x", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: rt, Timeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, body) || res.ProtoMajor != 2 {
		t.Errorf("%s: %d bytes came back, %v", res.Proto, len(got), err)
	}
}

// curl as a client of all versions.
func TestCurlVersions(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("there is no curl")
	}
	a := newAuthorities(t)
	b := backendtest.Start(t, identify())
	secure := startGateway(t, secureYAML(a.server.Issue("g.test"), b, withH2))
	plain := startGateway(t, "zuul.routes.api: {path: /api/**, url: \""+b.URL()+"\"}\n"+withH2)
	for _, tt := range []struct {
		g            *gateway
		scheme, flag string
		want         string
	}{
		{secure, "https", "--http1.1", " 200 1.1"},
		{secure, "https", "--http2", " 200 2"},
		{secure, "https", "--http2-prior-knowledge", " 200 2"},
		{plain, "http", "--http1.1", " 200 1.1"},
		{plain, "http", "--http2", " 200 1.1"}, // asks for the upgrade
		{plain, "http", "--http2-prior-knowledge", " 200 2"},
	} {
		t.Run(tt.scheme+" "+tt.flag, func(t *testing.T) {
			_, port, _ := strings.Cut(tt.g.Proxy, ":")
			out, err := exec.CommandContext(t.Context(), curl, "-sS", "--max-time", "15", "--cacert", a.server.Write(), "--resolve", "g.test:"+port+":127.0.0.1",
				"-w", " %{http_code} %{http_version}", "-d", "hello", "-H", "X-Id: 7", tt.flag, tt.scheme+"://g.test:"+port+"/api/x").CombinedOutput()
			if err != nil || string(out) != "7 hello"+tt.want {
				t.Errorf("%s, %v", out, err)
			}
		})
	}
}
