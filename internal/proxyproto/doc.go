// Package proxyproto takes connections from balancers that say in a PROXY
// protocol head (versions 1 and 2 of HAProxy's proxy-protocol.txt) whose
// connection they pass on. It is a parser of its own because it must not read a
// byte too many: behind the head the socket itself is served, with all that can
// be done with a socket.
package proxyproto
