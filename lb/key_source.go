package lb

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// KeySource is where the key of a request comes from that ConsistentHash goes by. The
// zero value gives none.
type KeySource struct{ kind, name string }

// ParseKeySource reads "address", "path", "header:<name>", "cookie:<name>" or "".
func ParseKeySource(text string) (KeySource, error) {
	kind, name, named := strings.Cut(text, ":")
	switch {
	case text == "", (kind == "address" || kind == "path") && !named:
	case kind == "header" && name != "":
		name = http.CanonicalHeaderKey(name)
	case kind == "cookie" && name != "":
	default:
		return KeySource{}, fmt.Errorf("lb: %q is no source of a key: address, path, header:<name>, cookie:<name>", text)
	}
	return KeySource{kind, name}, nil
}

// ByAddress reports whether the key is the client's address.
func (k KeySource) ByAddress() bool { return k.kind == "address" }

// Of is the key of a request, nil without one. client is the client's address as far as
// it can be believed; without one it is that of the connection.
func (k KeySource) Of(r *http.Request, client netip.Addr) any {
	if k.kind == "" {
		return nil
	}
	if text := k.text(r, client); text != "" {
		return text
	}
	return nil
}

func (k KeySource) text(r *http.Request, client netip.Addr) string {
	switch k.kind {
	case "address":
		if client.IsValid() {
			return client.String()
		}
		if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
			return host
		}
		return r.RemoteAddr
	case "path":
		return r.URL.Path
	case "header":
		return strings.Join(r.Header[k.name], ",")
	case "cookie":
		if c, err := r.Cookie(k.name); err == nil {
			return c.Value
		}
	}
	return ""
}
