package routing

import "slices"

// wildIndex finds the wildcard segments that may fit a name by the literal text they begin with.
type wildIndex struct {
	byPrefix map[string][]wildEdge
	lengths  []int // of the prefixes, ascending
}

type wildEdge struct {
	segment *segment
	node    *node
}

// child returns the node behind s and makes it if needed.
func (x *wildIndex) child(s *segment, order int) *node {
	prefix := s.prefix()
	for _, edge := range x.byPrefix[prefix] {
		if edge.segment.kind == s.kind && edge.segment.text == s.text {
			return edge.node
		}
	}
	if x.byPrefix == nil {
		x.byPrefix = map[string][]wildEdge{}
	}
	edge := wildEdge{segment: s, node: newNode(order)}
	x.byPrefix[prefix] = append(x.byPrefix[prefix], edge)
	if at, found := slices.BinarySearch(x.lengths, len(prefix)); !found {
		x.lengths = slices.Insert(x.lengths, at, len(prefix))
	}
	return edge.node
}

func (x *wildIndex) find(names []string, slash bool, best int) int {
	name := names[0]
	for _, length := range x.lengths {
		if length > len(name) {
			break
		}
		for _, edge := range x.byPrefix[name[:length]] {
			if edge.node.first < best && edge.segment.matches(name) {
				best = edge.node.find(names[1:], slash, best)
			}
		}
	}
	return best
}

// tailIndex finds the tails that may fit a path by one literal segment they need.
type tailIndex struct {
	byName map[string][]candidate
	free   []candidate // tails of nothing but wildcards
}

// candidate is a tail with the order of its pattern. Lists of candidates are in ascending order.
type candidate struct {
	tail  *tail
	order int
}

// add files the tail under the literal segment that the fewest others are filed under.
func (x *tailIndex) add(t *tail, order int) {
	c := candidate{tail: t, order: order}
	names := t.literals()
	if len(names) == 0 {
		x.free = append(x.free, c)
		return
	}
	rarest := slices.MinFunc(names, func(a, b string) int { return len(x.byName[a]) - len(x.byName[b]) })
	x.byName[rarest] = append(x.byName[rarest], c)
}

func (t *tail) literals() []string {
	var names []string
	for _, group := range append([][]segment{t.end}, t.middle...) {
		for _, s := range group {
			if s.kind == literal {
				names = append(names, s.text)
			}
		}
	}
	return names
}

func (x *tailIndex) find(names []string, best int) int {
	best = firstFit(x.free, names, best)
	for i, name := range names {
		candidates := x.byName[name]
		if len(candidates) > 0 && slices.Index(names, name) == i {
			best = firstFit(candidates, names, best)
		}
	}
	return best
}

// firstFit returns the order of the first candidate that fits, if it is below best, else best.
func firstFit(candidates []candidate, names []string, best int) int {
	for _, c := range candidates {
		if c.order >= best {
			break
		}
		if c.tail.matches(names) {
			return c.order
		}
	}
	return best
}
