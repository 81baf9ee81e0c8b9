package gozer

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/gozer-gateway/gozer/filters"
	errorfilter "github.com/gozer-gateway/gozer/filters/errors"
)

// pseudonym is the gateway's name in Via (RFC 9110 7.6.3).
const pseudonym = "gozer"

// maxPasses is how often a request may have passed gateways of that name before
// it is taken to go in a circle. Some may well stand in a row.
const maxPasses = 8

// signatures are what the gateway writes into Via, by the version of the
// received message.
func signatures() []string {
	return []string{"1.0 " + pseudonym, "1.1 " + pseudonym, "2.0 " + pseudonym}
}

// hop applies the rules for a message that goes one hop further: it signs the
// request in Via, refuses one that goes in a circle, and answers an OPTIONS that
// goes no further.
func (s *snapshot) hop(c *filters.Context) error {
	if s.config.Gateway.Via {
		received := c.Out.Header["Via"]
		if passes(received) >= maxPasses {
			return filters.Refuse(http.StatusLoopDetected, "Request goes in a circle")
		}
		c.Out.Header["Via"] = signed(received, s.signature(c.Request))
	}
	if c.Request.Method == http.MethodOptions && (c.Path.Raw == everything || arrived(c.Out.Header)) {
		c.Respond(http.StatusOK, http.Header{"Allow": {errorfilter.AllowedMethods}}, nil)
	}
	return nil
}

// signature is shared by all requests, and cut so that an append copies.
func (s *snapshot) signature(r *http.Request) []string {
	n := 2
	if r.ProtoMajor == 1 {
		n = min(r.ProtoMinor, 1)
	}
	return s.signatures[n : n+1 : n+1]
}

// signed is the signature alone, without a copy, for a request that comes
// straight from its author.
func signed(received, signature []string) []string {
	if len(received) == 0 {
		return signature
	}
	return append(received, signature...)
}

// passes counts the gateway's name among the members of Via.
func passes(via []string) int {
	n := 0
	for _, line := range via {
		for member := range strings.SplitSeq(line, ",") {
			_, by, _ := strings.Cut(strings.TrimSpace(member), " ")
			if by == pseudonym {
				n++
			}
		}
	}
	return n
}

// arrived counts Max-Forwards down and reports whether it was 0 already. A larger number
// than can be counted becomes the largest that can (RFC 9110 7.6.2), what is no number is
// left as it is.
func arrived(h http.Header) bool {
	n, err := strconv.ParseUint(h.Get("Max-Forwards"), 10, 63)
	if errors.Is(err, strconv.ErrRange) {
		h.Set("Max-Forwards", strconv.FormatUint(n, 10))
		return false
	}
	if err != nil {
		return false
	}
	h.Set("Max-Forwards", strconv.FormatUint(max(n, 1)-1, 10))
	return n == 0
}
