package ribboncmd

import (
	"io"
	"net/http"
	"time"
)

// body is a response body whose closing ends the context of its call.
type body struct {
	io.ReadCloser
	ctx *callContext
}

// Close closes the upstream body first, so that a fully read connection goes
// back to its pool and is not torn down by the end of the context.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.ctx.release()
	return err
}

// WriteTo leaves the choice of the fastest way to the two ends.
func (b *body) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, b.ReadCloser) }

// Pauses is that of the upstream's body; see internal/http1. A body that cannot tell
// never pauses.
func (b *body) Pauses(while time.Duration) bool {
	upstream, able := b.ReadCloser.(interface {
		Pauses(while time.Duration) bool
	})
	return able && upstream.Pauses(while)
}

// upgraded is the body of a 101 response: the connection itself.
type upgraded struct {
	*body
	io.Writer
}

// CloseWrite ends one direction if the connection can.
func (u upgraded) CloseWrite() error {
	if half, ok := u.Writer.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return http.ErrNotSupported
}

// bind ties the context of a call to the body of its response. Nothing is
// wrapped if the context holds nothing.
func (c *call) bind(resp *http.Response) {
	if !c.ctx.bound() {
		return
	}
	if resp.Body == nil || resp.Body == http.NoBody {
		c.ctx.release()
		return
	}
	c.body = body{ReadCloser: resp.Body, ctx: &c.ctx}
	if w, ok := resp.Body.(io.Writer); ok {
		resp.Body = upgraded{&c.body, w}
		return
	}
	resp.Body = &c.body
}
