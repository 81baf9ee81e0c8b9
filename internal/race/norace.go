//go:build !race

// Package race tells tests whether they were built with the race detector,
// which allocates on its own and so spoils testing.AllocsPerRun gates.
package race

// Enabled is true in a binary built with -race.
const Enabled = false
