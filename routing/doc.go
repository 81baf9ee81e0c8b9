// Package routing decides which route a request path belongs to and what is left of the path for the upstream.
//
// [ParsePath] makes a request path safe to match, [Build] turns [Settings] and the discovered services into an
// immutable [Table], and [Table.Match] finds the first route, in configuration order, whose ant pattern fits.
// The package starts no goroutines; a reload builds a new table beside the old one.
package routing
