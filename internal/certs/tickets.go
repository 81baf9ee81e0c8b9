package certs

import (
	"crypto/rand"
	"crypto/tls"
	"time"
)

// tickets are the keys of session tickets: the first one seals, both open. The zero value
// has none.
type tickets struct {
	keys [][32]byte
	made time.Time
}

// turn makes a new key if the last one is old enough, and forgets the one before the last.
func (t *tickets) turn(config *tls.Config, age time.Duration) {
	now := time.Now()
	if len(t.keys) > 0 && now.Sub(t.made) < age {
		return
	}
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	if len(t.keys) > 1 {
		t.keys = t.keys[:1]
	}
	t.keys, t.made = append([][32]byte{key}, t.keys...), now
	config.SetSessionTicketKeys(t.keys)
}
