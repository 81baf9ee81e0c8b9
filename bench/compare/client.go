//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// request is what all clients of a scene send.
type request struct {
	path string
	post int // bytes of the body of a POST, 0 for a GET
}

func (r request) text() string {
	if r.post == 0 {
		return "GET " + r.path + " HTTP/1.1\r\nHost: bench.test\r\n\r\n"
	}
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: bench.test\r\nContent-Length: %d\r\n\r\n%s", r.path, r.post, strings.Repeat("x", r.post))
}

// client is one keep-alive connection.
type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(ctx context.Context, addr string) (*client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{conn, bufio.NewReader(conn)}, nil
}

// exchange sends a request and reads all of its response, which has to be a 200.
func (c *client) exchange(r request) error {
	if _, err := io.WriteString(c, r.text()); err != nil {
		return err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// dialMany opens n connections and sends a request on each, so that the proxy has
// served all of them once.
func dialMany(ctx context.Context, addr string, n int, r request) ([]*client, error) {
	clients := make([]*client, 0, n)
	for range n {
		c, err := dial(ctx, addr)
		if err != nil {
			return clients, err
		}
		clients = append(clients, c)
		if err := c.exchange(r); err != nil {
			return clients, err
		}
	}
	return clients, nil
}

func closeAll(clients []*client) {
	for _, c := range clients {
		c.Close()
	}
}
