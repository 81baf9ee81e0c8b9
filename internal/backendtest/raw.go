package backendtest

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// Step is one exchange of a Raw backend.
type Step struct {
	// Await is what the client has to have sent since the step before; the end of
	// a head ("\r\n\r\n") when empty.
	Await string
	// Reply is written as it stands.
	Reply string
	// Close ends the connection after the reply.
	Close bool
}

// Raw plays exact bytes and records exact bytes, for what a real HTTP server
// would refuse to send or would tidy up on reading.
type Raw struct {
	// Addr is the host and port.
	Addr string

	steps    []Step
	listener net.Listener
	accepted chan struct{} // closed when no more connection comes
	playing  sync.WaitGroup

	mu       sync.Mutex
	open     []net.Conn // guarded by mu
	received [][]byte   // guarded by mu; per connection, in order of acceptance
}

// StartRaw plays the steps on every connection from the first one on, and then
// goes on recording until the client closes. It ends with the test.
func StartRaw(tb testing.TB, steps ...Step) *Raw {
	tb.Helper()
	l, err := listen("127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	r := &Raw{Addr: l.Addr().String(), steps: steps, listener: l, accepted: make(chan struct{})}
	go r.accept()
	tb.Cleanup(r.stop)
	return r
}

// Received is what each connection has sent so far, in order of acceptance.
func (r *Raw) Received() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]string, len(r.received))
	for i, sent := range r.received {
		all[i] = string(sent)
	}
	return all
}

func (r *Raw) accept() {
	defer close(r.accepted)
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		n := r.admit(c)
		r.playing.Go(func() { r.play(c, n) })
	}
}

// admit returns the number of the connection.
func (r *Raw) admit(c net.Conn) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = append(r.open, c)
	r.received = append(r.received, nil)
	return len(r.received) - 1
}

func (r *Raw) play(c net.Conn, n int) {
	defer c.Close()
	var seen []byte
	for _, s := range r.steps {
		var err error
		if seen, err = r.await(c, n, seen, s.Await); err != nil {
			return
		}
		if _, err = c.Write([]byte(s.Reply)); err != nil || s.Close {
			return
		}
	}
	for {
		if _, err := r.read(c, n); err != nil {
			return
		}
	}
}

// await reads until mark is among the bytes and returns those behind it.
func (r *Raw) await(c net.Conn, n int, seen []byte, mark string) ([]byte, error) {
	if mark == "" {
		mark = "\r\n\r\n"
	}
	for {
		if _, rest, ok := bytes.Cut(seen, []byte(mark)); ok {
			return rest, nil
		}
		more, err := r.read(c, n)
		if err != nil {
			return nil, err
		}
		seen = append(seen, more...)
	}
}

func (r *Raw) read(c net.Conn, n int) ([]byte, error) {
	buf := make([]byte, 4096)
	k, err := c.Read(buf)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received[n] = append(r.received[n], buf[:k]...)
	return buf[:k], err
}

func (r *Raw) stop() {
	r.listener.Close()
	<-r.accepted
	r.mu.Lock()
	for _, c := range r.open {
		c.Close()
	}
	r.mu.Unlock()
	r.playing.Wait()
}
