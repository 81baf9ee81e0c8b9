package netserver

import "net"

// reset ends the connection of a response that would look complete at an orderly end, as
// which a goodbye of TLS counts too.
func (w *writer) reset() {
	conn, _, err := w.Hijack()
	if err != nil {
		return // it has failed already
	}
	for {
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = outer.NetConn()
	}
	if socket, ok := conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = socket.SetLinger(0) // fails on a closed connection
	}
	_ = conn.Close() // as above
}
