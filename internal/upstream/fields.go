package upstream

import (
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// errMalformed is the failure of a server whose response has fields that cannot be passed on.
var errMalformed = errors.New("upstream: malformed field in the response")

// check closes a response that is refused.
func check(res *http.Response) error {
	for name, values := range res.Header {
		if headers.Check(name, values) != nil {
			_ = res.Body.Close() // it is of no use
			return errMalformed
		}
	}
	return nil
}

// prepared returns a request, the caller's copy, as net/http has to have it: a TE belongs to
// this hop and has to be named in Connection (RFC 9110 10.1.4).
func prepared(own *http.Request) *http.Request {
	if len(own.Header["Te"]) > 0 {
		own.Header = maps.Clone(own.Header) // which is still the caller's
		own.Header["Connection"] = append(slices.Clip(own.Header["Connection"]), "TE")
	}
	return own
}
