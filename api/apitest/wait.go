package apitest

import (
	"testing"
	"time"
)

// Becomes waits until a condition holds.
func Becomes(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * Patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, 2*Patience)
		}
	}
}

// Patience is how long a slow caller's connection may outlive its bound in a test.
const Patience = 10 * time.Second
