//go:build !race

package testkit

// Race says that the race detector is on.
const (
	Race     = false
	slowdown = 1
)
