//go:build !race

package testkit

const slowdown = 1
