package rest

import (
	"context"
	"fmt"
	"net/http"
)

// Entity is a response whose body has been decoded.
type Entity[T any] struct {
	Status int
	Header http.Header
	Body   T // zero if there was none
}

// Exchange makes a call and decodes the answer: into text if T is string, bytes if it is
// []byte, else from JSON. An Accept in the header of r wins over the one that follows from T.
func Exchange[T any](ctx context.Context, c *Client, r Request) (Entity[T], error) {
	var e Entity[T]
	call, err := c.newCall(ctx, r)
	if err != nil {
		return e, err
	}
	if call.request.Header.Get("Accept") == "" {
		call.request.Header.Set("Accept", accepted(&e.Body))
	}
	res, err := c.do(call)
	if err != nil {
		return e, err
	}
	e.Status, e.Header = res.StatusCode, res.Header
	if err := decode(res, &e.Body, orDefault(c.MaxBody, DefaultMaxBody)); err != nil {
		return e, fmt.Errorf("rest: %s: %w", call, err)
	}
	return e, nil
}

func object[T any](ctx context.Context, c *Client, r Request) (T, error) {
	e, err := Exchange[T](ctx, c, r)
	return e.Body, err
}

// GetObject gets and decodes, as Exchange does.
func GetObject[T any](ctx context.Context, c *Client, uri string, vars ...any) (T, error) {
	return object[T](ctx, c, Request{URI: uri, Vars: vars})
}

// GetEntity is GetObject with status and header.
func GetEntity[T any](ctx context.Context, c *Client, uri string, vars ...any) (Entity[T], error) {
	return Exchange[T](ctx, c, Request{URI: uri, Vars: vars})
}

// PostObject sends body, as Request.Body says, and decodes the answer.
func PostObject[T any](ctx context.Context, c *Client, uri string, body any, vars ...any) (T, error) {
	return object[T](ctx, c, Request{Method: http.MethodPost, URI: uri, Vars: vars, Body: body})
}

// PostEntity is PostObject with status and header.
func PostEntity[T any](ctx context.Context, c *Client, uri string, body any, vars ...any) (Entity[T], error) {
	return Exchange[T](ctx, c, Request{Method: http.MethodPost, URI: uri, Vars: vars, Body: body})
}

// PatchObject is PostObject with PATCH.
func PatchObject[T any](ctx context.Context, c *Client, uri string, body any, vars ...any) (T, error) {
	return object[T](ctx, c, Request{Method: http.MethodPatch, URI: uri, Vars: vars, Body: body})
}
