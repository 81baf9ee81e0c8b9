package filters

// Phase says when a filter runs. Besides the four phases of a request any other
// string is allowed: such a custom phase runs only when a filter asks for it
// with [Context.RunPhase].
type Phase string

// The phases of every request, in the order of zuul.md 1.2. The error phase
// runs after the first failure of one of the others.
const (
	Pre   Phase = "pre"
	Route Phase = "route"
	Post  Phase = "post"
	Error Phase = "error"
)
