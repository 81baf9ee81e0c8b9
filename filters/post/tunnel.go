package post

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/filters"
)

// tunnels joins the two connections of a request whose upstream has switched
// protocols.
type tunnels struct {
	idle  time.Duration
	count *filters.TunnelCount
}

// run sends the 101 and passes bytes both ways until both sides have ended,
// one of them fails, nothing has moved for the idle time, or the request's
// context ends.
func (t *tunnels) run(c *filters.Context, protocol string) error {
	upstream, ok := c.Response.Body.(io.ReadWriteCloser)
	if !ok {
		return filters.Refuse(http.StatusBadGateway, "The upstream switched protocols and kept the connection")
	}
	if err := checkFields(c.Response.Header); err != nil {
		return err
	}
	t.count.Active.Add(1) // before the server forgets the connection, so that a shutdown misses none
	defer t.count.Active.Add(-1)
	client, buffered, err := http.NewResponseController(c.Writer()).Hijack()
	if err != nil {
		return fmt.Errorf("post: taking over the client's connection: %w", err)
	}
	defer client.Close()
	_ = client.SetDeadline(time.Time{}) // what a failure means, the first write tells
	header := c.Response.Header
	header["Connection"], header["Upgrade"] = []string{"Upgrade"}, []string{protocol}
	c.Switching(header)
	if err := sendSwitch(buffered.Writer, header); err != nil {
		return gone(c, err)
	}
	t.count.Opened.Add(1)
	began := time.Now()
	in, out := t.join(c.Request.Context(), client, early(buffered.Reader, client), upstream)
	c.Tunnelled(time.Since(began), in, out)
	return nil
}

// early reads what has been buffered and then the connection itself: net/http's
// reader would end the request's context with the client's half of it.
func early(buffered *bufio.Reader, client net.Conn) io.Reader {
	n := buffered.Buffered()
	if n == 0 {
		return client
	}
	return io.MultiReader(io.LimitReader(buffered, int64(n)), client)
}

func sendSwitch(w *bufio.Writer, h http.Header) error {
	_, _ = w.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = h.Write(w)
	_, _ = w.WriteString("\r\n")
	return w.Flush() // tells of every failure before
}

// join copies both ways and returns, with the bytes of each, when both copies have
// ended.
func (t *tunnels) join(ctx context.Context, client net.Conn, fromClient io.Reader, upstream io.ReadWriteCloser) (in, out int64) {
	cut := func() {
		_ = client.Close()
		_ = upstream.Close()
	}
	defer context.AfterFunc(ctx, cut)()
	w := watch(t.idle, cut)
	defer w.stop()
	var copying sync.WaitGroup
	copying.Go(func() {
		var whole bool
		if in, whole = pump(upstream, fromClient, &t.count.FromClient, w); !whole {
			cut()
		}
	})
	out, whole := pump(client, upstream, &t.count.FromUpstream, w)
	if !whole {
		cut()
	}
	copying.Wait()
	return in, out
}

// pump copies until src ends and then tells dst that no more will come. It
// returns how much it was, and false if that cannot be told, or if either side has
// failed.
func pump(dst io.Writer, src io.Reader, count *atomic.Int64, w *watchdog) (copied int64, whole bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		w.touch()
		if n > 0 {
			if _, err := dst.Write(buf[:n]); err != nil {
				return copied, false
			}
			count.Add(int64(n))
			copied += int64(n)
		}
		if err != nil {
			half, ok := dst.(interface{ CloseWrite() error })
			return copied, err == io.EOF && ok && half.CloseWrite() == nil
		}
	}
}

// watchdog bites when it has not been touched for a while.
type watchdog struct {
	idle    time.Duration
	touched atomic.Int64 // since began
	began   time.Time
	timer   *time.Timer
}

func watch(idle time.Duration, bite func()) *watchdog {
	w := &watchdog{idle: idle, began: time.Now()}
	var mu sync.Mutex // the timer may fire before it is stored
	mu.Lock()
	defer mu.Unlock()
	w.timer = time.AfterFunc(idle, func() {
		mu.Lock()
		defer mu.Unlock()
		if left := w.left(); left > 0 {
			w.timer.Reset(left)
			return
		}
		bite()
	})
	return w
}

func (w *watchdog) left() time.Duration {
	return w.idle - (time.Since(w.began) - time.Duration(w.touched.Load()))
}

func (w *watchdog) touch() { w.touched.Store(int64(time.Since(w.began))) }

func (w *watchdog) stop() { w.timer.Stop() }
