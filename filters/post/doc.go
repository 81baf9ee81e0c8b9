// Package post holds the built-in filters of the post phase: LocationRewrite
// corrects redirects, SendResponse gives the client its answer.
package post
