package gozer_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// inGo is a provider that tells who asked it.
func inGo(name string) fallback.Provider {
	return fallback.Func(func(_ context.Context, service string, cause error) (*http.Response, error) {
		text := name + " for " + service
		if _, ok := errors.AsType[*ribboncmd.Error](cause); !ok {
			text = "a cause of another kind"
		}
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{},
			Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
		}, nil
	})
}

func TestFallbacks(t *testing.T) {
	const inYAML = "gateway.fallback:\n  users: {status: 200, body: users in yaml}\n  '*': {status: 200, body: all in yaml}\n"
	tests := []struct {
		name, yaml    string
		options       []gozer.Option
		users, others string
	}{
		{"zuul 142 in the configuration", inYAML, nil, "users in yaml", "all in yaml"},
		{
			"in Go it wins over the configuration", inYAML,
			[]gozer.Option{gozer.WithFallback("users", inGo("go"))},
			"go for users", "all in yaml",
		},
		{
			"for all in Go, one service in the configuration", inYAML,
			[]gozer.Option{gozer.WithFallback("*", inGo("go"))},
			"users in yaml", "go for books",
		},
		{
			"zuul 142 in Go", "",
			[]gozer.Option{gozer.WithFallback("*", inGo("any")), gozer.WithFallback("users", inGo("own"))},
			"own for users", "any for books",
		},
	}
	refuse := roundTrip(func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED })
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGateway(t, usersAt("zuul.routes.books: /books/**\nbooks.ribbon.listOfServers: two:80\n"+tt.yaml, "one:80"), tt.options...)
			g.SetTransport("users", refuse)
			g.SetTransport("books", refuse)
			wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, tt.users)
			wantAnswer(t, get(t, g, "/books/1"), http.StatusOK, tt.others)
		})
	}
}
