package ribboncmd

import "context"

// Tracer hears of executions without a result, on the goroutine of the caller, once it
// is known whether a fallback helped.
type Tracer interface {
	Failed(ctx context.Context, failure *Error, fellBack bool)
}

func (p *policy) tell(ctx context.Context, failure *Error, fellBack bool) {
	if p.Tracer != nil {
		p.Tracer.Failed(ctx, failure, fellBack)
	}
}
