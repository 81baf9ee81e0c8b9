package ribboncmd

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// judge looks at the fields of a good response: at its header now, and at its trailer when
// the body has been read.
func (c *Command) judge(s *state, resp *http.Response) Outcome {
	if c.policy.FailureFields(resp.Header) {
		return Failure
	}
	if resp.Body != nil && resp.Body != http.NoBody && resp.ContentLength < 0 && resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = &judgedBody{ReadCloser: resp.Body, resp: resp, command: c, state: s}
	}
	return Success
}

// judgedBody is the body of a response whose trailer may tell of a failure.
type judgedBody struct {
	io.ReadCloser
	resp    *http.Response
	command *Command
	state   *state
	once    sync.Once
}

func (b *judgedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.once.Do(b.judge)
	}
	return n, err
}

func (b *judgedBody) judge() {
	if b.command.policy.FailureFields(b.resp.Trailer) {
		b.state.failLate(&b.command.policy, time.Now())
	}
}

// failLate counts a failure of a call that has been counted as a success already.
func (s *state) failLate(p *policy, now time.Time) {
	s.counters.add(stripeOf(now), EventFailure)
	if p.Breaker.Eager {
		s.breaker.judgeNow(p)
	}
}
