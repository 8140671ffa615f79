package testkit

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// Buffer keeps what is written to it, such as the lines of a logger, while a test reads it. The zero value is empty. It is safe
// for concurrent use.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends to the buffer. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns all that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Refuses checks that an error contains each of some texts.
func Refuses(t testing.TB, err error, wants ...string) {
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
