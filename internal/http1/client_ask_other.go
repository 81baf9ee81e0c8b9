//go:build !unix

package http1

// init leaves the asker unable.
func (a *asker) init(c *clientConn) { a.conn = c }
