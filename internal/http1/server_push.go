package http1

import "syscall"

// pusher writes to a client's socket.
type pusher struct {
	socket  syscall.RawConn
	push    func(fd uintptr) bool // pushNow, bound once
	left    []byte
	failure error
}

// write sends all of p, and waits for the client to take it if need be.
func (p *pusher) write(b []byte) error {
	p.left, p.failure = b, nil
	err := p.socket.Write(p.push)
	p.left = nil
	if err == nil {
		err = p.failure
	}
	return err
}
