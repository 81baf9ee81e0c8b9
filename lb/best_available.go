package lb

// BestAvailable takes the server with the fewest active requests, the first of several.
// Every pick looks at all servers; PowerOfTwoChoices does nearly as well with two.
type BestAvailable struct{}

var _ Rule = BestAvailable{}

// Picker implements Rule.
func (BestAvailable) Picker(c *Candidates) Picker { return bestPicker{c.Servers} }

type bestPicker struct{ servers []*Server }

func (p bestPicker) Pick(any) *Server {
	best := p.servers[0]
	least := best.active()
	for _, s := range p.servers[1:] {
		if least == 0 {
			break
		}
		if n := s.active(); n < least {
			best, least = s, n
		}
	}
	return best
}
