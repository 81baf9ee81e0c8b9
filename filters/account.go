package filters

import (
	"net/http"
	"slices"
	"time"
)

// An Observer is told of every request that reaches a front door. Its methods are
// called on the request's goroutine, many requests at once, and must neither block
// nor panic nor keep c.
type Observer interface {
	// Begin comes before the chain. The path has been judged: c.Err may be set already.
	Begin(c *Context)
	// End comes when the request has been answered, or its switched connection has
	// ended, just before its memory is given back. c.Account is complete then.
	End(c *Context)
}

// Account is what a request has come to. It is valid as long as its Context.
type Account struct {
	// Took is the time from Context.Start until now, for observers of its end that until the
	// last filter had run.
	Took time.Duration

	// Pre, Route, Post and Error are the times spent in those phases, the error
	// phase not being part of the one that failed.
	Pre, Route, Post, Error time.Duration

	// BytesIn and BytesOut are those of the bodies, or of what was sent after a
	// switch of protocols: from the client and to the client.
	BytesIn, BytesOut int64

	// Attempts are the tries to get an answer from a server, in the order of their
	// ends. At most MaxAttempts are kept; Unkept counts the others.
	Attempts []Attempt
	Unkept   int

	// Tunnel is how long a connection that has switched protocols lasted, 0 for a
	// request that has not.
	Tunnel time.Duration
}

// MaxAttempts is how many attempts an Account keeps.
const MaxAttempts = 16

// Attempt is one try to get an answer from a server.
type Attempt struct {
	// Server is its id, for a URL route the host of the URL.
	Server string

	Start time.Time

	// Took is the time until the head of the response had come, or until the
	// attempt failed.
	Took time.Duration

	// Status is that of the response, 0 without one.
	Status int

	// Cause classifies a failure in a word out of a handful, such as "connect" or
	// "timeout"; empty if there was an answer.
	Cause string

	// Err says why there was no answer.
	Err error
}

// account is the part of Account that is not counted elsewhere.
type account struct {
	pre, route, post, error time.Duration
	marked                  time.Duration // c.passed when the last phase ended
	in, out                 int64         // of a switched connection; of the body in a clone
	tunnel                  time.Duration
	attempts                []Attempt
	unkept                  int
	ended                   bool
	took                    time.Duration // if it has ended
}

// Account tells what the request has come to so far.
func (c *Context) Account() Account {
	a := &c.account
	return Account{
		Took: c.took(),
		Pre:  a.pre, Route: a.route, Post: a.post, Error: a.error,
		BytesIn: c.read() + a.in, BytesOut: c.writer.written + a.out,
		Attempts: a.attempts, Unkept: a.unkept,
		Tunnel: a.tunnel,
	}
}

// End fixes Took. The front door calls it when the request has been answered, so that its
// observers read no clock and tell of the same time.
func (c *Context) End() {
	c.account.ended, c.account.took = true, c.passed
	if len(c.executions) == 0 {
		c.account.took = time.Since(c.Start)
	}
}

func (c *Context) took() time.Duration {
	if c.account.ended {
		return c.account.took
	}
	return time.Since(c.Start)
}

// Attempted notes an attempt that has ended. Route filters call it.
func (c *Context) Attempted(a Attempt) {
	if len(c.account.attempts) == MaxAttempts {
		c.account.unkept++
		return
	}
	c.account.attempts = append(c.account.attempts, a)
}

// Switching notes that the head of a switch of protocols goes with that header to a
// client whose connection has been taken over. It keeps the header.
func (c *Context) Switching(header http.Header) {
	c.writer.committed, c.writer.status, c.writer.switched = true, http.StatusSwitchingProtocols, header
}

// Sent returns the values of a field, by its canonical name, in the head that the client
// was sent, with what the server has added to it. Of Date and framing, servers of net/http
// only know what they were given. It may be called until the request has been answered.
func (c *Context) Sent(name string) []string { return c.writer.sent(name) }

// Tunnelled notes a connection that had switched protocols and has ended, with
// the bytes that came from the client and went to it.
func (c *Context) Tunnelled(took time.Duration, fromClient, toClient int64) {
	c.account.tunnel, c.account.in, c.account.out = took, fromClient, toClient
}

// read is how many bytes of the client's body have been read.
func (c *Context) read() int64 {
	if c.body == nil {
		return 0
	}
	return c.body.read.Load()
}

// mark adds the time since the last mark to a phase. It goes by the ends of the
// filters, which have been timed already.
func (c *Context) mark(phase *time.Duration) {
	*phase += c.passed - c.account.marked
	c.account.marked = c.passed
}

// copiedAccount is an account that shares no memory with c.
func (c *Context) copiedAccount() account {
	a := c.account
	a.in += c.read()
	a.attempts = slices.Clone(a.attempts)
	return a
}
