package config

// A node is a piece of configuration with its place: YAML without anchors, tags and
// styles.
type node struct {
	kind   nodeKind
	text   string  // of a scalar; "" for null
	items  []*node // of a list
	fields []field // of a table, in the order written
	at     Position
}

type nodeKind uint8

const (
	scalar nodeKind = iota
	list
	table
)

func (k nodeKind) String() string {
	return [...]string{"a single value", "a list", "a section"}[k]
}

// A field is one entry of a table. Its place is that of the key.
type field struct {
	name  string
	value *node
	at    Position
}
