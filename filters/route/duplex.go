package route

import (
	"net/http"

	"github.com/gozer-gateway/gozer/filters"
)

// answerWhileSending lets the answer begin while the request body is still on
// its way. Without it, net/http's server first reads what is left of the body
// and throws it away: bytes that the upstream then misses, or, if the client
// waits for the answer before it sends more, an answer that never comes.
func answerWhileSending(c *filters.Context) {
	_ = http.NewResponseController(c.Writer()).EnableFullDuplex() // writers without a connection need it not
}
