// Package http1 speaks HTTP/1.1 with clients and upstream servers, as strictly
// as RFC 9112 and with few copies. What is ambiguous is refused, and what is
// passed on is written anew, so the two sides never see different messages.
//
// Server is the side towards clients and stands in for http.Server; Transport is
// the side towards upstreams and stands in for http.Transport. Handlers and
// callers see the standard types on both.
//
// The files named wire_ and conn_ hold what both sides are built of. A reader
// stands on every connection; its buffer comes from pools that the Server or
// Transport owns, and goes back while the connection idles. A head is scanned in
// that buffer, refused at the first bad byte, and then turned into one string,
// of which method, target, names and values are slices; it is reused from message
// to message. A body reads what a head has announced and knows whether it is
// complete. Heads and chunks are appended to a caller's buffer, validated as they
// are written. A prober looks at a socket without reading from it.
//
// The files named server_ and client_ belong to one side each. Neither keeps a
// goroutine per request: the server has one per connection and the sweeper, which
// drives all waits and finds clients that have left; the transport works on its
// caller's, but for long uploads, which are sent beside the wait for the answer.
// An Interrupter ends blocked work on either side when its request has ended.
package http1
