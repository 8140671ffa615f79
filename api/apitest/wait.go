package apitest

import (
	"context"
	"testing"
	"time"
)

// Patience is how long a slow caller's connection may outlive its bound in a test.
const Patience = 10 * time.Second

// CloseAtEnd closes a service when the test ends, which has ten seconds for it.
func CloseAtEnd(t testing.TB, closer func(ctx context.Context) error) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := closer(ctx); err != nil {
			t.Error(err)
		}
	})
}
