//go:build race

package testkit

// Race says that the race detector is on. It makes a program several times slower, so tests may wait as much longer.
const (
	Race     = true
	slowdown = 3
)
