// Package handover passes listening sockets between processes: from systemd (LISTEN_FDS)
// and from a running gateway to the one that takes its place.
package handover

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

// The variables of systemd's protocol, and those by which one gateway tells the next.
const (
	listenPID   = "LISTEN_PID"
	listenFDs   = "LISTEN_FDS"
	listenNames = "LISTEN_FDNAMES"
	ownSockets  = "GOZER_HANDOVER_SOCKETS" // "name=address" for each, with ";" between
	ownReady    = "GOZER_HANDOVER_READY"   // the descriptor that takes the word
	ownState    = "GOZER_HANDOVER_STATE"   // the descriptor that state comes from, if there is any
)

// first is the number of the first descriptor that is passed on.
const first = 3

// word is what the new process says when it is ready.
const word = "ready\n"

// ErrNotHere is the failure to take or pass on sockets on a system that cannot.
var ErrNotHere = errors.New("handover: sockets are passed on between processes on Unix only")

// Sockets are those that this process was started with. A nil one has none. Its methods
// may be called from any goroutine.
type Sockets struct {
	ready *os.File // nil unless a gateway has passed the sockets on

	mu     sync.Mutex // guards the rest
	unused []socket
	state  *os.File // nil once it is read, or if there is none
}

type socket struct {
	name, address string // "" if it was not told
	listener      net.Listener
}

// Inherited takes the sockets that the environment speaks of, and that variables out of
// it, so that no child takes them for its own. Without any it returns nil.
func Inherited() (*Sockets, error) {
	defer func() {
		for _, name := range []string{listenPID, listenFDs, listenNames, ownSockets, ownReady, ownState} {
			_ = os.Unsetenv(name) // fails on malformed names only
		}
	}()
	if told, ok := os.LookupEnv(ownSockets); ok {
		return fromGateway(told, os.Getenv(ownReady), os.Getenv(ownState))
	}
	if os.Getenv(listenPID) == strconv.Itoa(os.Getpid()) {
		return fromSystemd(os.Getenv(listenFDs), os.Getenv(listenNames))
	}
	return nil, nil
}

func fromGateway(told, ready, state string) (*Sockets, error) {
	s := &Sockets{}
	var names []socket
	for entry := range strings.SplitSeq(told, ";") {
		if name, address, ok := strings.Cut(entry, "="); ok {
			names = append(names, socket{name: name, address: address})
		}
	}
	say, err := descriptor(ownReady, ready)
	if err != nil {
		return nil, err
	}
	if state != "" {
		from, err := descriptor(ownState, state)
		if err != nil {
			return nil, err
		}
		s.state = inherited(from, "state")
	}
	if err := s.take(names); err != nil {
		return nil, err
	}
	s.ready = inherited(say, "ready")
	return s, nil
}

func descriptor(variable, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < first {
		return 0, fmt.Errorf("handover: %s=%q is no descriptor", variable, value)
	}
	return n, nil
}

func fromSystemd(count, told string) (*Sockets, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > 1000 {
		return nil, fmt.Errorf("handover: %s=%q is no number of sockets", listenFDs, count)
	}
	names := make([]socket, n)
	for i, name := range strings.Split(told, ":") {
		if i < n {
			names[i].name = name
		}
	}
	s := &Sockets{}
	return s, s.take(names)
}

// take makes listeners of the descriptors.
func (s *Sockets) take(names []socket) error {
	for i, known := range names {
		f := inherited(first+i, known.name)
		l, err := net.FileListener(f)
		_ = f.Close() // the listener has a copy
		if err != nil {
			_ = s.Close()
			return fmt.Errorf("handover: descriptor %d (%s) is no listening socket: %w", first+i, known.name, err)
		}
		known.listener = l
		s.unused = append(s.unused, known)
	}
	return nil
}

// HandedOver tells whether a gateway has passed the sockets on, which waits for Ready.
func (s *Sockets) HandedOver() bool { return s != nil && s.ready != nil }

// Take returns the socket for a listener, and nil if there is none. A gateway has passed
// on what its configuration said, so name and address have to be the same. Of systemd's
// sockets the one with the name is taken, whatever its address, else one with the
// address's port.
func (s *Sockets) Take(name, address string) net.Listener {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fits := range []func(socket) bool{
		func(one socket) bool { return one.name == name && (one.address == "" || one.address == address) },
		func(one socket) bool { return s.ready == nil && samePort(one.listener.Addr().String(), address) },
	} {
		for i, one := range s.unused {
			if fits(one) {
				s.unused = append(s.unused[:i], s.unused[i+1:]...)
				return one.listener
			}
		}
	}
	return nil
}

func samePort(a, b string) bool {
	_, one, errOne := net.SplitHostPort(a)
	_, other, errOther := net.SplitHostPort(b)
	return errOne == nil && errOther == nil && one == other
}

// Unused names the sockets that nobody has taken.
func (s *Sockets) Unused() (names []string) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.unused {
		names = append(names, one.name+" "+one.listener.Addr().String())
	}
	return names
}

// ReadState calls read with what the gateway before has to tell, once. There may be nothing:
// then it is not called.
func (s *Sockets) ReadState(read func(io.Reader) error) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	from := s.state
	s.state = nil
	s.mu.Unlock()
	if from == nil {
		return nil
	}
	return errors.Join(read(from), from.Close())
}

// Close closes the sockets that nobody has taken, and state that nobody has read.
func (s *Sockets) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var problems []error
	for _, one := range s.unused {
		problems = append(problems, one.listener.Close())
	}
	s.unused = nil
	if s.state != nil {
		problems = append(problems, s.state.Close())
		s.state = nil
	}
	return errors.Join(problems...)
}

// Ready tells the gateway that has passed the sockets on that it can go.
func (s *Sockets) Ready() error {
	if !s.HandedOver() {
		return nil
	}
	_, err := s.ready.WriteString(word)
	return errors.Join(err, s.ready.Close())
}
