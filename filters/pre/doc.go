// Package pre holds the built-in filters of the pre phase, one per file.
package pre
