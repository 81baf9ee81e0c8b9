package lb_test

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/lb"
)

// What ParseServers reads can be called, and its text means the same server again.
func FuzzParseServers(f *testing.F) {
	for _, seed := range []string{"", "a", "a:80,b", " http://h:1/ , https://[::1] ,,", "[fe80::1%25e]:9", "h:x", "ws://h", "a/b", "user:pw@h:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		servers, _ := lb.ParseServers(text)
		if len(servers) > strings.Count(text, ",")+1 {
			t.Fatalf("%d servers in %q", len(servers), text)
		}
		for _, s := range servers {
			host, _, err := net.SplitHostPort(s.HostPort())
			if err != nil || host != s.Host || s.Host == "" || s.Port < 1 || s.Port > 65535 || s.ID != s.HostPort() {
				t.Fatalf("%q is %+v (%v)", text, s, err)
			}
			if strings.Contains(s.Host, "%") {
				continue // an address with a zone is not written like this
			}
			again, err := lb.ParseServer(s.HostPort())
			if err != nil || !again.Same(&s) {
				t.Fatalf("%q is %v, then %v (%v)", text, s.ID, again.ID, err)
			}
		}
	})
}

// A source of keys reads any request without a panic, and the same key every time.
func FuzzKeySource(f *testing.F) {
	f.Add("address", "10.0.0.1:5", "10.1.1.1, x", "a=b")
	f.Add("header:x-user", "", "", "")
	f.Add("cookie:session", "[::1]:1", ",", "session=1; session=2")
	f.Add("path", "?", "", ";")
	f.Fuzz(func(t *testing.T, text, remote, forwarded, cookie string) {
		k, err := lb.ParseKeySource(text)
		if err != nil {
			return
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://h/a/b", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = remote
		r.Header["Cookie"], r.Header["X-User"] = []string{cookie}, []string{forwarded}
		client, _ := netip.ParseAddr(forwarded)
		key := k.Of(r, client)
		if key == "" {
			t.Error("an empty key instead of none")
		}
		if again := k.Of(r, client); again != key {
			t.Errorf("%v, then %v", key, again)
		}
	})
}
