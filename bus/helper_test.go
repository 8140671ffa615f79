package bus

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// eventually repeats a call until it succeeds, as clients do while a cluster elects.
func eventually(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err := try(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond) // between two tries, not in place of one
	}
}

// refuses checks that an error has these words.
func refuses(t *testing.T, err error, wants ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("it was taken; want an error about %q", wants)
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want something about %q", err, want)
		}
	}
}

// lockedBuffer keeps what a logger writes while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
