package filters

// Key names a typed attribute that filters share within one request. Make one
// with NewKey, once, and keep it in a variable of your package: two keys are
// different even if their names are equal.
type Key[T any] struct{ name string }

// NewKey returns a new key. name appears in the routing debug only.
func NewKey[T any](name string) *Key[T] { return &Key[T]{name: name} }

// Set stores v in c, replacing an earlier value.
func (k *Key[T]) Set(c *Context, v T) {
	for i := range c.attributes {
		if c.attributes[i].key == k {
			c.attributes[i].value = v
			return
		}
	}
	c.attributes = append(c.attributes, attribute{key: k, name: k.name, value: v})
}

// Get returns the value stored in c and whether there is one.
func (k *Key[T]) Get(c *Context) (T, bool) {
	for i := range c.attributes {
		if c.attributes[i].key == k {
			v, ok := c.attributes[i].value.(T)
			return v, ok
		}
	}
	var zero T
	return zero, false
}

type attribute struct {
	key   any
	name  string
	value any
}
