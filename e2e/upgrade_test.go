package e2e_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// switching is an upstream that switches to whatever it is offered, repeats the
// handshake's fields in X-Saw and then echoes in upper case until the client has
// no more to say; then it says goodbye.
func switching() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		saw := []string{r.Header.Get("Connection"), r.Header.Get("Upgrade"), r.Header.Get("Sec-Websocket-Key"), r.Header.Get("Origin"), r.URL.RequestURI()}
		_, _ = io.WriteString(rw, lines("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: "+r.Header.Get("Upgrade"),
			"Sec-WebSocket-Accept: accepted", "X-Saw: "+strings.Join(saw, "|")))
		_ = rw.Flush()
		for {
			b, err := rw.ReadByte()
			if err != nil {
				_, _ = io.WriteString(conn, "bye")
				return
			}
			_, _ = io.WriteString(conn, strings.ToUpper(string(b)))
		}
	})
}

// tunnel is a connection after a handshake; the end of the test closes it.
type tunnel struct {
	conn     *net.TCPConn
	reader   *bufio.Reader
	response *http.Response
}

// upgrade opens a connection and sends a handshake with further field lines.
func (g *gateway) upgrade(target string, fields ...string) *tunnel {
	g.tb.Helper()
	c := dial(g.tb, g.Proxy)
	write(g.tb, c, lines(append([]string{"GET " + target + " HTTP/1.1", "Host: g.test"}, fields...)...))
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		g.tb.Fatal(err)
	}
	g.tb.Cleanup(func() { _ = res.Body.Close() })
	return &tunnel{c, r, res}
}

func upgradeConfig(b *backendtest.Backend) string {
	return "zuul: {routes: {url: {path: /url/**, url: \"" + b.URL() + "\"}, svc: /svc/**}}\n" +
		"svc.ribbon: {listOfServers: \"" + b.Addr + "\", ReadTimeout: 5000}\n"
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, switching())
	g := startCustom(t, upgradeConfig(b))
	tests := []struct {
		name, target string
		fields       []string
		saw          string
	}{
		{"W01 W02 URL route", "/url/chat?room=1", []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: k=="}, "Upgrade|websocket|k==||/chat?room=1"},
		{"service route", "/svc/chat", []string{"Connection: Upgrade", "Upgrade: websocket"}, "Upgrade|websocket|||/chat"},
		{"C100 spellings", "/url/", []string{"connection: keep-alive, upgrade", "upgrade: WebSocket", "sec-websocket-key: K"}, "Upgrade|WebSocket|K||/"},
		{"C100 two Connection lines", "/url/", []string{"Connection: keep-alive", "Connection: Upgrade", "Upgrade: websocket"}, "Upgrade|websocket|||/"},
		{"another protocol", "/url/", []string{"Connection: Upgrade", "Upgrade: foo/2"}, "Upgrade|foo/2|||/"},
		{"C095 h2c among others", "/url/", []string{"Connection: Upgrade", "Upgrade: h2c, websocket"}, "Upgrade|websocket|||/"},
		{"two Upgrade lines", "/svc/", []string{"Connection: Upgrade", "Upgrade: HTTP/3.0", "Upgrade: websocket"}, "Upgrade|websocket|||/"},
		{"W12 origin", "/url/", []string{"Connection: Upgrade", "Upgrade: websocket", "Origin: http://o.test"}, "Upgrade|websocket||http://o.test|/"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := g.upgrade(tt.target, tt.fields...)
			if u.response.StatusCode != http.StatusSwitchingProtocols || u.response.Header.Get("X-Saw") != tt.saw || u.response.Header.Get("Sec-WebSocket-Accept") != "accepted" {
				t.Fatalf("%d %v, want 101 after the upstream saw %s", u.response.StatusCode, u.response.Header, tt.saw)
			}
			write(t, u.conn, "hello")
			got := make([]byte, 5)
			if _, err := io.ReadFull(u.reader, got); err != nil || string(got) != "HELLO" {
				t.Fatalf("echoed %q, %v", got, err)
			}
			if err := u.conn.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(u.reader); err != nil || string(rest) != "bye" {
				t.Errorf("W08 at the end came %q, %v; want bye and the end", rest, err)
			}
		})
	}
	t.Run("a pre filter refuses", func(t *testing.T) {
		u := g.upgrade("/url/", "Connection: Upgrade", "Upgrade: websocket", "X-Test: teapot")
		if u.response.StatusCode != http.StatusTeapot {
			t.Errorf("status %d, want 418", u.response.StatusCode)
		}
	})
	t.Run("counted apart", func(t *testing.T) {
		eventually(t, "no tunnel is active", func() bool { return g.metric("gateway.tunnels.active") == `"value":0` })
		if got := g.metric("gateway.tunnels.opened"); got != `"value":8` {
			t.Errorf("opened %s, want 8", got)
		}
	})
}

// metric is the value of a metric as it stands in its JSON.
func (g *gateway) metric(name string) string {
	g.tb.Helper()
	a, err := g.tryGet(g.AdminURL("/actuator/metrics/" + name))
	if err != nil {
		g.tb.Fatal(err)
	}
	_, value, _ := strings.Cut(a.Body, `"statistic":"COUNT",`)
	value, _, _ = strings.Cut(value, "}")
	return value
}

func TestUpgradeIsNotPassedOn(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, backendtest.Echo("plain"))
	g := startGateway(t, upgradeConfig(b))
	for name, fields := range map[string][]string{
		"H01 C095 h2c":      {"Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"},
		"not in Connection": {"Upgrade: websocket"},
	} {
		t.Run(name, func(t *testing.T) {
			u := g.upgrade("/url/x", fields...)
			e := backendtest.ReadEcho(t, u.response.Body)
			for _, field := range []string{"Upgrade", "Connection", "Http2-Settings"} {
				if v := e.Header.Values(field); len(v) > 0 {
					t.Errorf("the upstream saw %s: %v", field, v)
				}
			}
		})
	}
}

func TestUpgradeAnsweredOtherwise(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reply  string
		status int
		body   string
	}{
		"C104 W04 refused":               {"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", http.StatusForbidden, "no"},
		"W03 another version":            {"HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\n\r\n", http.StatusUpgradeRequired, ""},
		"C104 ordinary answer":           {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", http.StatusOK, "abc"},
		"C104 elsewhere":                 {"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", http.StatusFound, ""},
		"C104 silence":                   {"", http.StatusGatewayTimeout, ""},
		"C104 no protocol named":         {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n", http.StatusBadGateway, ""},
		"C104 S20 a protocol not wanted": {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n", http.StatusBadGateway, ""},
	} {
		t.Run(name, func(t *testing.T) {
			raw := backendtest.StartRaw(t, backendtest.Step{Reply: tt.reply})
			yaml := "zuul.routes.url: {path: /url/**, url: \"http://" + raw.Addr + "\"}\n"
			if tt.status == http.StatusGatewayTimeout {
				yaml += "zuul.host.socket-timeout-millis: 500\n"
			}
			g := startGateway(t, yaml)
			u := g.upgrade("/url/x", "Connection: Upgrade", "Upgrade: websocket")
			body, err := io.ReadAll(u.response.Body)
			if err != nil || u.response.StatusCode != tt.status || tt.body != "" && string(body) != tt.body {
				t.Fatalf("%d %q %v, want %d %q", u.response.StatusCode, body, err, tt.status, tt.body)
			}
			write(t, u.conn, lines("GET /nowhere HTTP/1.1", "Host: g.test"))
			nextAnswer(t, u.reader, http.MethodGet).wantStatus(t, http.StatusNotFound)
		})
	}
}

func TestUpgradeOfADeadServer(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(dead(t)))
	for _, kind := range kinds {
		t.Run("C104 refused, "+kind, func(t *testing.T) {
			u := g.upgrade("/"+kind+"/x", "Connection: Upgrade", "Upgrade: websocket")
			if u.response.StatusCode != http.StatusBadGateway {
				t.Errorf("status %d", u.response.StatusCode)
			}
		})
	}
}

func TestTunnelEnds(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, yaml string) (*gateway, *tunnel) {
		t.Helper()
		b := backendtest.Start(t, switching())
		g := startGateway(t, upgradeConfig(b)+yaml)
		u := g.upgrade("/url/", "Connection: Upgrade", "Upgrade: websocket")
		if u.response.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("status %d", u.response.StatusCode)
		}
		return g, u
	}
	t.Run("W10 idle", func(t *testing.T) {
		g, u := open(t, "gateway.limits.tunnelIdleTimeout: 100ms\n")
		if rest, err := io.ReadAll(u.reader); err != nil || len(rest) > 0 {
			t.Errorf("read %q, %v; want the end of the connection", rest, err)
		}
		eventually(t, "no tunnel is active", func() bool { return g.metric("gateway.tunnels.active") == `"value":0` })
	})
	t.Run("C103 the client breaks off", func(t *testing.T) {
		g, u := open(t, "")
		if err := u.conn.SetLinger(0); err != nil {
			t.Fatal(err)
		}
		_ = u.conn.Close()
		eventually(t, "no tunnel is active", func() bool { return g.metric("gateway.tunnels.active") == `"value":0` })
	})
	t.Run("C217 W09 the drain limit", func(t *testing.T) {
		g, u := open(t, "spring.lifecycle.timeout-per-shutdown-phase: 300ms\n")
		if code := g.Stop(); code != 0 {
			t.Errorf("exit code %d, want 0: streams may be cut", code)
		}
		wantLines(t, g.Log.String(), []string{`msg="shutdown: streams are cut"`})
		if rest, err := io.ReadAll(u.reader); err != nil || len(rest) > 0 {
			t.Errorf("read %q, %v; want the end of the connection", rest, err)
		}
	})
	t.Run("C217 ended in time", func(t *testing.T) {
		g, u := open(t, "")
		_ = u.conn.Close()
		if code := g.Stop(); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
	})
}

// RFC 9110 15.5.22: a 426 says what to switch to.
func TestUpgradeRequired(t *testing.T) {
	t.Parallel()
	addr := startScript(t)
	g := startGateway(t, bothYAML(addr)+withH2)
	what := say("url", "HTTP/1.1 426 Upgrade Required\r\nUpgrade: h2c, websocket, foo/2\r\nConnection: upgrade\r\nContent-Length: 0\r\n\r\n")
	for version, want := range map[string]string{"1.1": "websocket, foo/2", "1.0": ""} {
		c := dial(t, g.Proxy)
		write(t, c, lines("GET "+what+" HTTP/"+version, "Host: gateway.test")) // with "Connection: close" net/http sends nothing else there
		a := nextAnswer(t, bufio.NewReader(c), http.MethodGet).wantStatus(t, http.StatusUpgradeRequired)
		if got := a.Header.Get("Upgrade"); got != want || (a.Header.Get("Connection") == "Upgrade") != (want != "") {
			t.Errorf("HTTP/%s: %v, want %q", version, a.Header, want)
		}
	}
	if a := g.dialH2().ask(get2(what)...); a.Status != http.StatusUpgradeRequired || a.Header.Get("Upgrade")+a.Header.Get("Connection") != "" {
		t.Errorf("HTTP/2: %d %v", a.Status, a.Header)
	}
}
