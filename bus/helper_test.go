package bus

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

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
