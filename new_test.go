package gozer_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/discovery"
)

const usersAndBooks = `
zuul.routes:
  users: /users/**
  books: /books/**=http://127.0.0.1:1
users.ribbon.listOfServers: 127.0.0.1:1
`

func TestNewStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		newGateway(t, usersAndBooks,
			gozer.WithListen(func(_ context.Context, address string) (net.Listener, error) {
				t.Errorf("%s was opened", address)
				return nil, net.ErrClosed
			}),
			gozer.WithDiscovery(discovery.SourceFunc(func(context.Context, chan<- discovery.Update) error {
				t.Error("the source was run")
				return nil
			})))
	})
}
