package gozer_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
)

// The whole main function of a gateway with one more filter.
func ExampleMain() {
	apiKey := filters.Func("ApiKeyFilter", filters.Pre, 4, func(c *filters.Context) error {
		if c.Request.Header.Get("X-Api-Key") == "" {
			return filters.Refuse(http.StatusUnauthorized, "missing API key")
		}
		c.Out.Header.Set("X-Tenant", "acme") // what the upstream sees
		return nil
	})
	gozer.Main(gozer.WithFilters(apiKey))
}

// A gateway inside another program: it is an http.Handler and, with Run, a
// server of its own.
func ExampleNew() {
	cfg, report := config.Parse("gateway.yaml", []byte("zuul.routes.users: /users/**"), config.Options{})
	if err := report.Err(); err != nil {
		fmt.Println(err)
		return
	}
	tea := filters.Func("TeaFilter", filters.Route, 5, func(c *filters.Context) error {
		c.Respond(http.StatusTeapot, nil, strings.NewReader("tea for "+c.Route.ID+" at "+c.Out.Path))
		return nil
	})
	gateway, err := gozer.New(cfg, gozer.WithFilters(tea))
	if err != nil {
		fmt.Println(err)
		return
	}
	client := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/users/7", http.NoBody)
	gateway.ServeHTTP(client, request)
	fmt.Println(client.Code, client.Body)
	// Output: 418 tea for users at /7
}
