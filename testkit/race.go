//go:build race

package testkit

// slowdown is how much longer tests may wait, since the race detector makes a program several times slower.
const slowdown = 3
