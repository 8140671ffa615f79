package bus

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestLinesOfClients: however many lines a client causes, a second has a bounded number of them, the next line says how
// many are missing, and none has the name that the client gave as its user.
func TestLinesOfClients(t *testing.T) {
	var out bytes.Buffer
	l := &natsLogger{log: slog.New(slog.NewTextHandler(&out, nil))}
	const lines = 2000
	for i := range lines {
		l.Errorf("authentication error - User %q, %d", `secret"half`, i)
	}
	logged := strings.Count(out.String(), "authentication error")
	if logged < linesPerSecond || logged > 3*linesPerSecond || strings.Contains(out.String(), "secret") || strings.Contains(out.String(), "half") {
		t.Fatalf("%d lines: %s", logged, out.String())
	}
	l.second = l.second.Add(-1) // the next line is in another second
	out.Reset()
	l.Warnf("slow consumer")
	if want := "dropped="; !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "slow consumer") {
		t.Errorf("%s; want %s", out.String(), want)
	}
}
