package ribboncmd

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Key names a command that Do runs. The command key alone decides which circuit,
// permits and metrics it shares, also with the command of a service of that name.
type Key struct {
	Command string // required
	Group   string // for display, and the default of Pool; "" means Command
	Pool    string // of Thread isolation; "" means Group
}

func (k Key) group() string { return cmp.Or(k.Group, k.Command) }

// The ways in which a key leads to no command.
var (
	ErrNoCommands = errors.New("ribboncmd: the context has no commands, see NewContext")
	ErrNoKey      = errors.New("ribboncmd: the command key is empty")
)

// named are the commands that keys stand for under one configuration.
type named struct {
	settings func(Key) Settings
	commands sync.Map // of *Command by Key
	count    atomic.Int64
}

// Configure sets where the settings of keys come from; their pool key, if empty,
// and group follow from the key. It may be called again at any time: state goes on.
// Until then HystrixSettings apply. settings is called from any goroutine.
func (c *Commands) Configure(settings func(Key) Settings) {
	c.named.Store(&named{settings: settings})
	for _, key := range c.keys() {
		c.Named(key).PutInForce()
	}
}

// keys are those whose commands have executed lately.
func (c *Commands) keys() (all []Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.states {
		if key := s.policy.Load().key; key != nil {
			all = append(all, *key)
		}
	}
	return all
}

// Named returns the command of a key under the configuration in force.
func (c *Commands) Named(key Key) *Command {
	n := c.named.Load()
	if known, ok := n.commands.Load(key); ok {
		return known.(*Command)
	}
	s := n.settings(key)
	s.Group = key.group()
	s.Pool.Key = cmp.Or(s.Pool.Key, key.Pool, s.Group)
	made := c.Command(key.Command, s, nil)
	made.policy.key = &key
	if n.count.Add(1) > crowded { // keys made up from requests must not fill the memory
		return made
	}
	kept, _ := n.commands.LoadOrStore(key, made)
	return kept.(*Command)
}

type contextKey struct{}

// NewContext returns a context in which Do finds its commands. The contexts of
// requests that a gateway serves stem from such a one.
func NewContext(parent context.Context, c *Commands) context.Context {
	return context.WithValue(parent, contextKey{}, c)
}

// FromContext returns the commands that NewContext put there, or nil.
func FromContext(ctx context.Context) *Commands {
	c, _ := ctx.Value(contextKey{}).(*Commands)
	return c
}

func commandOf(ctx context.Context, key Key) (*Command, error) {
	if key.Command == "" {
		return nil, ErrNoKey
	}
	c := FromContext(ctx)
	if c == nil {
		return nil, ErrNoCommands
	}
	return c.Named(key), nil
}
