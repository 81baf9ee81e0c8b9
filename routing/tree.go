package routing

import "math"

// none is the order of no pattern: greater than that of any.
const none = math.MaxInt

// node is a place in the tree of patterns: the patterns whose heads begin with the segments that lead here.
// A nil node holds no patterns.
type node struct {
	first int // lowest order at and below this node

	// Orders of the patterns that end here: as they are, with a slash, with "/**".
	leaf, slashLeaf, all int

	literals map[string]*node
	wild     wildIndex
	star     *node // "*"
	tails    *tailIndex
}

func newNode(order int) *node {
	return &node{first: order, leaf: none, slashLeaf: none, all: none}
}

// insert adds a pattern. Orders must come ascending; of two patterns that match the same the first one stays.
func (n *node) insert(p *Pattern, order int) {
	for i := range p.head {
		n = n.child(&p.head[i], order)
	}
	switch {
	case p.tail == nil && p.slash:
		n.slashLeaf = min(n.slashLeaf, order)
	case p.tail == nil:
		n.leaf = min(n.leaf, order)
	case len(p.tail.middle)+len(p.tail.end) == 0:
		n.all = min(n.all, order)
	default:
		if n.tails == nil {
			n.tails = &tailIndex{byName: map[string][]candidate{}}
		}
		n.tails.add(p.tail, order)
	}
}

// child returns the node behind s and makes it if needed.
func (n *node) child(s *segment, order int) *node {
	switch s.kind {
	case literal:
		if n.literals == nil {
			n.literals = map[string]*node{}
		}
		if n.literals[s.text] == nil {
			n.literals[s.text] = newNode(order)
		}
		return n.literals[s.text]
	case anyName:
		if n.star == nil {
			n.star = newNode(order)
		}
		return n.star
	case glob, expression, anyDepth:
	}
	return n.wild.child(s, order)
}

// find returns the lowest order of a pattern that fits names, if it is below best, else best.
// Every node is visited once at most, and only if it may still improve on best.
func (n *node) find(names []string, slash bool, best int) int {
	if n == nil || n.first >= best {
		return best
	}
	best = min(best, n.all)
	if n.tails != nil {
		best = n.tails.find(names, best)
	}
	if len(names) == 0 {
		return min(best, n.end(slash))
	}
	best = n.literals[names[0]].find(names[1:], slash, best)
	best = n.wild.find(names, slash, best)
	return n.star.find(names[1:], slash, best)
}

// end returns the order for a path that ends here.
func (n *node) end(slash bool) int {
	if !slash {
		return n.leaf
	}
	if n.star == nil {
		return n.slashLeaf
	}
	return min(n.slashLeaf, n.star.leaf, n.star.slashLeaf)
}
