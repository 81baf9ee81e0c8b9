//go:build !unix

package http1

// watchSocket leaves await to read a first byte.
func (*reader) watchSocket() {}
