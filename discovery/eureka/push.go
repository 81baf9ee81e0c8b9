package eureka

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"time"
)

// Gozer's registry streams changes as server-sent events: "sync" with the hash of its
// list, then a "delta" per change with the hash after it, and "gone" with the reasons
// why instances have left. Other registries answer 404.

const (
	pushSilence  = 45 * time.Second // three of the registry's signs of life
	pushRetry    = time.Second      // after a break, doubled each time
	pushAskAgain = 5 * time.Minute  // after a registry that does not push, and the longest wait
)

// pushEvent is what came: a list that is a marker or a delta.
type pushEvent struct {
	marker bool
	list   *Applications
}

var (
	errNoPush = errors.New("the registry does not push")
	errNotYet = errors.New("no registry has answered yet")
)

// followPushes keeps a stream open until ctx ends.
func (c *Client) followPushes(ctx context.Context) {
	wait := pushRetry
	for ctx.Err() == nil {
		began := time.Now()
		err := c.stream(ctx)
		c.setPushing(false)
		switch {
		case errors.Is(err, errNotYet):
			wait = pushRetry
		case errors.Is(err, errNoPush):
			wait = pushAskAgain
		case time.Since(began) > pushSilence:
			wait = pushRetry
		}
		if ctx.Err() == nil {
			c.settings.Servers.Logger.Debug("eureka: not pushed to, polling", "again in", wait, "error", err)
		}
		if !pause(ctx, wait/2+rand.N(wait)) { // not all clients at once
			return
		}
		wait = min(2*wait, pushAskAgain)
	}
}

// stream reads one stream to its end, from the registry that answers lists.
func (c *Client) stream(ctx context.Context) error {
	server := c.session.current()
	if server == nil {
		return errNotYet
	}
	call := &call{
		name: "push", method: http.MethodGet, path: "push", wait: pushSilence,
		header: http.Header{"Accept": {"text/event-stream"}, "Accept-Encoding": {"identity"}},
		read: func(res *http.Response, body io.Reader) error {
			if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media != "text/event-stream" {
				return errNoPush
			}
			return c.readEvents(ctx, body)
		},
	}
	status, _, err := c.transport.exchange(ctx, c.session.moveOf(server), call)
	switch {
	case err != nil:
		return err
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusNotAcceptable:
		return errNoPush
	case status != http.StatusOK:
		return fmt.Errorf("push: status %d", status)
	}
	return nil
}

// readEvents hands over what a stream says.
func (c *Client) readEvents(ctx context.Context, body io.Reader) error {
	limits := c.settings.Servers.Limits.filled()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 16<<10), int(limits.Bytes))
	var name string
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		switch {
		case len(line) == 0:
			if err := c.handOver(ctx, name, data); err != nil {
				return err
			}
			name, data = "", data[:0]
		case bytes.HasPrefix(line, []byte("event:")):
			name = string(bytes.TrimPrefix(line[len("event:"):], []byte(" ")))
		case bytes.HasPrefix(line, []byte("data:")):
			if len(data)+len(line) > int(limits.Bytes) {
				return fmt.Errorf("%w: an event of more than %d bytes", ErrTooLarge, limits.Bytes)
			}
			data = append(data, bytes.TrimPrefix(line[len("data:"):], []byte(" "))...)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	return io.ErrUnexpectedEOF
}

// handOver gives an event to the poller.
func (c *Client) handOver(ctx context.Context, name string, data []byte) error {
	switch name {
	case "gone":
		c.settings.Servers.Logger.Debug("eureka: instances have left", "reasons", string(data))
		return nil
	case "sync", "delta":
	default:
		return nil
	}
	list, err := (Decoder{Limits: c.settings.Servers.Limits}).Applications(bytes.NewReader(data))
	if err != nil {
		return err
	}
	select {
	case c.pushed <- pushEvent{marker: name == "sync", list: list}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takePush applies an event. It reports false when the list has to be read to be right
// again: at the beginning of a stream, and when a delta does not add up.
func (c *Client) takePush(ctx context.Context, e pushEvent) bool {
	if e.marker {
		c.setPushing(true)
		return false
	}
	if !c.apply(e.list) {
		return !c.repairs.take(time.Now()) // else the next poll will do
	}
	c.note(ctx, nil)
	return true
}

func (c *Client) setPushing(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.Pushing != on {
		c.state.Pushing = on
		c.settings.Servers.Logger.Info("eureka: the registry pushes changes", "on", on)
	}
}
