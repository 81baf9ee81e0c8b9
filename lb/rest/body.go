package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// ErrTooLarge is wrapped by the error of a call whose response was larger than MaxBody.
var ErrTooLarge = errors.New("rest: response body is too large")

// encode gives the body of a request and its content type, "" to say nothing about it.
func encode(body any) (io.Reader, string, error) {
	switch body := body.(type) {
	case nil:
		return nil, "", nil
	case io.Reader:
		return body, "", nil
	case string:
		return strings.NewReader(body), "text/plain; charset=utf-8", nil
	case []byte:
		return bytes.NewReader(body), "application/octet-stream", nil
	case url.Values:
		return strings.NewReader(body.Encode()), "application/x-www-form-urlencoded", nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, "", fmt.Errorf("encoding the body: %w", err)
	}
	return bytes.NewReader(text), "application/json", nil
}

// accepted is what decode can make a value of that type from.
func accepted(into any) string {
	switch into.(type) {
	case *string, *[]byte:
		return "*/*"
	}
	return "application/json, application/*+json"
}

// decode reads the body of a response into a *string, a *[]byte or, as JSON, anything
// else. An empty body leaves it alone. The body is closed.
func decode(res *http.Response, into any, limit int64) error {
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case err != nil:
		return fmt.Errorf("reading the response: %w", err)
	case int64(len(text)) > limit:
		return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	switch into := into.(type) {
	case *string:
		*into = string(text)
		return nil
	case *[]byte:
		*into = text
		return nil
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("decoding a response of type %q: %w", res.Header.Get("Content-Type"), err)
	}
	return nil
}
