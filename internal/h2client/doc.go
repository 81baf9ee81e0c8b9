// Package h2client sends requests to upstream servers over HTTP/2. Many requests share a
// connection, each as a stream of its own; frames, header compression and flow control are
// net/http's ([http.ClientConn]), the connections and what their failures mean are ours. It
// is the counterpart of http1.Transport: it fails with the same errors.
package h2client
