package config

import "time"

// Shutdown is gateway.shutdown.*: the steps of a graceful shutdown. A reload applies it.
type Shutdown struct {
	Wait      time.Duration  // between "not ready" and "no new connections"
	IdleGrace time.Duration  // for connections without a request
	Grace     *time.Duration // for streams; nil: as Server.DrainTimeout
}

// StreamGrace is how long streams may go on after new connections have been refused.
func (c *Config) StreamGrace() time.Duration {
	if grace := c.Gateway.Shutdown.Grace; grace != nil {
		return *grace
	}
	return c.Server.DrainTimeout
}

func shutdownKeys() []Key {
	grace := duration("stream-grace", "", "how long streams may go on once there are no new connections: switched connections (WebSocket), gRPC calls, and all responses that have begun; then they are cut; without a value that of `spring.lifecycle.timeout-per-shutdown-phase`", time.Millisecond, 0,
		func(s *Shutdown) *time.Duration { s.Grace = new(time.Duration); return s.Grace })
	return append(lift("gateway.shutdown.", shutdown,
		duration("wait", "0s", "time between \"not ready\" and \"no new connections\" at a graceful shutdown", time.Millisecond, 0, func(s *Shutdown) *time.Duration { return &s.Wait }),
		duration("idle-grace", "1s", "how long kept connections without a request stay open then, so that none is closed under a request that is on its way; the answer to it says `Connection: close`; after a hand-over `spring.lifecycle.timeout-per-shutdown-phase` takes its place, but for `gateway registry`", time.Millisecond, 0, func(s *Shutdown) *time.Duration { return &s.IdleGrace }),
		grace,
	), lift("gateway.", gateway,
		duration("restart.ready-timeout", "30s", "how long the new process of a hand-over (SIGUSR2) may take until it serves; then it is ended and the old one goes on", time.Millisecond, time.Millisecond, func(g *Gateway) *time.Duration { return &g.ReadyTimeout }),
	)...)
}

func shutdown(b *builder, _ []string) *Shutdown { return &b.config.Gateway.Shutdown }
