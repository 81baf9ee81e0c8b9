package lb

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknownService is wrapped by the error of a call to a service that there is not.
var ErrUnknownService = errors.New("lb: unknown service")

// Services finds the command of a service.
type Services interface {
	// Command gives nil for a service that is not known. Any number of goroutines may call
	// it, for every request.
	Command(service string) *Command
}

// Directory is a set of services that does not change. Ids that differ by case only are
// told apart where both exist; otherwise case has no meaning, since people write
// http://USER-SERVICE/.
type Directory struct {
	exact, folded map[string]*Command
}

var _ Services = (*Directory)(nil)

// NewDirectory makes a directory of commands by service id.
func NewDirectory(commands map[string]*Command) *Directory {
	d := &Directory{exact: make(map[string]*Command, len(commands)), folded: make(map[string]*Command, len(commands))}
	for id, c := range commands {
		d.exact[id] = c
		id = strings.ToLower(id)
		if _, twice := d.folded[id]; twice {
			c = nil
		}
		d.folded[id] = c
	}
	return d
}

// Command finds a service by its id.
func (d *Directory) Command(service string) *Command {
	if c := d.exact[service]; c != nil {
		return c
	}
	return d.folded[strings.ToLower(service)]
}

func unknownService(service string) *Error {
	return &Error{Service: service, Kind: NoServer, Err: fmt.Errorf("%w %q", ErrUnknownService, service)}
}
