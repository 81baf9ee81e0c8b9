package handover

import (
	"context"
	"net"
	"os"
	"strings"
)

// Notify tells systemd what has become of the service (sd_notify): lines such as
// "READY=1". Without NOTIFY_SOCKET it does nothing.
func Notify(ctx context.Context, lines ...string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	if strings.HasPrefix(path, "@") {
		path = "\x00" + path[1:] // an abstract one
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unixgram", path)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // datagrams do not wait
	_, err = c.Write([]byte(strings.Join(lines, "\n")))
	return err
}
