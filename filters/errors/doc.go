// Package errorfilter holds the built-in filter of the error phase and, in
// status.go, the one place that turns errors into statuses.
package errorfilter
