package config

import "time"

// Reload is gateway.reload.*: when changes of the files are noticed.
type Reload struct {
	Watch bool
	// Delay is how long the files must have stayed the same until they are loaded.
	Delay time.Duration
	// PollInterval is how often the files are read for want of an event; 0 means never.
	PollInterval time.Duration
}

func reloadKeys() []Key {
	target := func(b *builder, _ []string) *Reload { return &b.config.Gateway.Reload }
	return lift("gateway.reload.", target,
		boolean("watch", "true", "load the configuration again when one of its files changes; SIGHUP and the endpoints do in any case", func(r *Reload) *bool { return &r.Watch }),
		duration("delay", "1s", "how long changed files must stay as they are until they are loaded, so that half of one is not taken for the whole", time.Millisecond, 10*time.Millisecond, func(r *Reload) *time.Duration { return &r.Delay }),
		duration("poll-interval", "30s", "how often watched files are looked at besides, for file systems that tell nothing; 0 means never", time.Millisecond, 0, func(r *Reload) *time.Duration { return &r.PollInterval }),
	)
}
