package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds that no honest file reaches. Aliases multiply, so what they stand for has one of its
// own.
const (
	maxDepth   = 64
	maxNodes   = 4_000_000
	maxAliased = 100_000
)

// reader turns YAML into nodes and reports what YAML itself allows to go wrong.
type reader struct {
	file    string
	report  *Report
	nodes   int
	alias   *yaml.Node // the outermost that is being followed
	aliased int        // nodes that aliases stand for
	path    []string   // keys above what is being read
}

// documents gives the tables of a file. After broken YAML it gives none: half a file
// must not be taken for a whole one.
func (r *reader) documents(data []byte) []*node {
	var docs []*node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			r.broken(err)
			return nil
		}
		if n := r.top(&doc); n != nil {
			docs = append(docs, n)
		}
	}
}

func (r *reader) top(doc *yaml.Node) *node {
	n := r.convert(doc, 0)
	switch {
	case n == nil || n.kind == table:
		return n
	case n.kind == scalar && n.text == "":
		return nil
	}
	r.report.errorf("", n.at, "expected keys and values at the top of the file, found %s", n.kind)
	return nil
}

var yamlError = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(?s:(.*))$`)

func (r *reader) broken(err error) {
	at, message := Position{File: r.file}, err.Error()
	if m := yamlError.FindStringSubmatch(message); m != nil {
		at.Line, message = yamlLine(m[1], m[2]), m[2]
	}
	r.report.errorf("", at, "broken YAML: %s", redact(message))
}

var parserError = regexp.MustCompile(`^did not find expected (key|node content|<document start>|'-' indicator|',' or .*)$`)

// yamlLine makes up for how the library counts: its parser from 0, its scanner from 1,
// and it leaves out the line where that would be 0.
func yamlLine(digits, message string) int {
	line, err := strconv.Atoi(digits)
	switch {
	case err != nil && strings.HasPrefix(message, "unknown anchor"):
		return 0
	case err != nil:
		return 1
	case parserError.MatchString(message):
		return line + 1
	}
	return line
}

// key is the whole key of a place; names are those below the ones being read.
func (r *reader) key(names ...string) string {
	return strings.Join(append(slices.Clone(r.path), names...), ".")
}

// convert gives nil when a bound was passed, which has been reported then.
func (r *reader) convert(y *yaml.Node, depth int) *node {
	if r.nodes++; r.nodes > maxNodes {
		return nil
	}
	if r.alias != nil {
		r.aliased++
	}
	switch {
	case r.aliased > maxAliased:
		return r.refuse(r.alias, "aliases stand for too many values")
	case depth > maxDepth || r.nodes == maxNodes:
		return r.refuse(y, "nested too deeply, or too many values")
	}
	switch y.Kind {
	case yaml.DocumentNode:
		return r.convert(y.Content[0], depth+1)
	case yaml.AliasNode:
		return r.follow(y, depth)
	case yaml.SequenceNode:
		return r.sequence(y, depth)
	case yaml.MappingNode:
		return r.mapping(y, depth)
	default:
		return r.scalar(y)
	}
}

// refuse reports that a bound is passed, once, and ends the reading.
func (r *reader) refuse(y *yaml.Node, why string) *node {
	r.nodes = maxNodes
	r.report.errorf(r.key(), Position{r.file, y.Line}, "%s", why)
	return nil
}

func (r *reader) follow(y *yaml.Node, depth int) *node {
	if r.alias == nil {
		r.alias = y
		defer func() { r.alias = nil }()
	}
	return r.convert(y.Alias, depth+1)
}

func (r *reader) scalar(y *yaml.Node) *node {
	n := &node{kind: scalar, text: y.Value, at: Position{r.file, y.Line}}
	if y.Tag == "!!null" {
		n.text = ""
	}
	return n
}

func (r *reader) sequence(y *yaml.Node, depth int) *node {
	n := &node{kind: list, at: Position{r.file, y.Line}}
	for _, item := range y.Content {
		if v := r.convert(item, depth+1); v != nil {
			n.items = append(n.items, v)
		}
	}
	return n
}

func (r *reader) mapping(y *yaml.Node, depth int) *node {
	n := &node{kind: table, at: Position{r.file, y.Line}}
	lines := make(map[string]int, len(y.Content)/2)
	var base *node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, at := y.Content[i], Position{r.file, y.Content[i].Line}
		r.path = append(r.path, key.Value)
		value := r.convert(y.Content[i+1], depth+1)
		r.path = r.path[:len(r.path)-1]
		switch first, double := lines[key.Value]; {
		case value == nil:
		case key.Kind != yaml.ScalarNode:
			r.report.errorf(r.key(), at, "a key must be a single value")
		case key.Tag == "!!merge":
			base = value
		case double:
			r.report.errorf(r.key(key.Value), at, "duplicate key, first written in line %d", first)
		default:
			lines[key.Value] = key.Line
			n.fields = append(n.fields, field{key.Value, value, at})
		}
	}
	return r.underlaid(n, base)
}

// underlaid puts the fields of a merge key (<<) under those of n.
func (r *reader) underlaid(n, base *node) *node {
	if base == nil {
		return n
	}
	bases := []*node{base}
	if base.kind == list {
		bases = base.items
	}
	for _, b := range bases {
		if b.kind != table {
			r.report.errorf(r.key("<<"), b.at, "expected a section to merge, found %s", b.kind)
			continue
		}
		for _, f := range b.fields {
			if _, own := n.field(f.name); !own {
				n.fields = append(n.fields, f)
			}
		}
	}
	return n
}
