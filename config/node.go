package config

// A node is a piece of configuration with its place: YAML without anchors, tags and
// styles.
type node struct {
	kind   nodeKind
	text   string  // of a scalar, placeholders replaced; "" for null
	raw    string  // of a scalar that had placeholders: as written
	secret bool    // never to be shown
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

func (n *node) field(name string) (*field, bool) {
	for i := range n.fields {
		if uniform(n.fields[i].name) == uniform(name) {
			return &n.fields[i], true
		}
	}
	return nil, false
}

// merged gives n overlaid by o: tables field by field, anything else replaced.
func (n *node) merged(o *node) *node {
	if n.kind != table || o.kind != table {
		return o
	}
	sum := *n
	sum.fields = append([]field(nil), n.fields...)
	for _, f := range o.fields {
		if old, ok := sum.field(f.name); ok {
			*old = field{f.name, old.value.merged(f.value), f.at}
			continue
		}
		sum.fields = append(sum.fields, f)
	}
	return &sum
}
