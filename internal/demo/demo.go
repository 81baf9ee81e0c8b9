// Package demo runs the upstreams of "gateway run --demo" inside the gateway's
// own process: two instances of a service and one plain URL upstream.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// The addresses that the sample gateway.yaml routes to.
const (
	UsersOne = "127.0.0.1:9101"
	UsersTwo = "127.0.0.1:9102"
	Legacy   = "127.0.0.1:9103"
)

// Pause is how long the second instance of users takes for every fifth request:
// longer than its read timeout in the sample gateway.yaml.
const Pause = 1500 * time.Millisecond

// Upstreams are the demo's listening servers.
type Upstreams struct{ servers []*upstream }

type upstream struct {
	listener net.Listener
	server   *http.Server
}

// Listen opens the three addresses. It fails if one is taken, and then keeps
// none.
func Listen(ctx context.Context) (*Upstreams, error) {
	u := &Upstreams{}
	for address, handler := range map[string]http.Handler{
		UsersOne: users("users-1", 0),
		UsersTwo: users("users-2", 5),
		Legacy:   legacy(),
	} {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", address)
		if err != nil {
			u.close()
			return nil, fmt.Errorf("demo: %w", err)
		}
		u.servers = append(u.servers, &upstream{l, &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}})
	}
	return u, nil
}

// Run serves until ctx ends.
func (u *Upstreams) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, s := range u.servers {
		running.Go(func() { _ = s.server.Serve(s.listener) }) // ends with ErrServerClosed
	}
	<-ctx.Done()
	for _, s := range u.servers {
		_ = s.server.Close()
	}
	running.Wait()
}

func (u *Upstreams) close() {
	for _, s := range u.servers {
		_ = s.listener.Close()
	}
}

// users answers with a user and its own name, and sleeps at every slowEvery-th
// request; 0 means never.
func users(instance string, slowEvery int64) http.Handler {
	mux := http.NewServeMux()
	var served atomic.Int64
	mux.HandleFunc("GET /{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil {
			answer(w, http.StatusBadRequest, map[string]any{"error": "the id of a user is a number"})
			return
		}
		if slowEvery > 0 && served.Add(1)%slowEvery == 0 && !sleep(r.Context(), Pause) {
			return
		}
		answer(w, http.StatusOK, map[string]any{"id": id, "name": "user " + strconv.Itoa(id), "instance": instance})
	})
	mux.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) {
		var user map[string]any
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&user); err != nil {
			answer(w, http.StatusBadRequest, map[string]any{"error": "send one JSON object"})
			return
		}
		answer(w, http.StatusCreated, map[string]any{"created": user, "instance": instance})
	})
	return mux
}

// legacy echoes what reached it, which shows how a URL route rewrites a
// request.
func legacy() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, map[string]any{
			"upstream": "legacy",
			"saw":      r.Method + " " + r.RequestURI,
			"headers":  r.Header,
		})
	})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // the client may have gone
}

// sleep waits for d; it returns false if the request ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
