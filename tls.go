package gozer

import (
	"crypto/tls"
	"net"
)

// secure is the stage of a listener that puts TLS in front of what is served there: it
// returns l itself when there is no configuration. Handshakes happen where the
// connection is served.
func secure(l net.Listener, config *tls.Config) net.Listener {
	if config == nil {
		return l
	}
	return tls.NewListener(l, config)
}
