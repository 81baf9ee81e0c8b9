// Package forwarded reads and writes what proxies say about the client behind
// them: the X-Forwarded-* fields and Forwarded (RFC 7239).
package forwarded
