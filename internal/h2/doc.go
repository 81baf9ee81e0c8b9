// Package h2 serves HTTP/2 to clients on connections that somebody else has accepted: net/http's
// server speaks the protocol, and what is around it bounds what a client may cost. Requests reach
// the handler checked by the rules that internal/http1 has for HTTP/1.1, so that what is above
// need not know which of the two carries a request.
package h2
