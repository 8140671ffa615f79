package instant_test

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// TestRounding: a clock's reading is cut down, a deadline is rounded up, and whole milliseconds stay as they are.
func TestRounding(t *testing.T) {
	whole := time.Date(2026, 3, 8, 7, 0, 0, 5e6, time.UTC)
	for _, c := range []struct {
		at       time.Time
		down, up string
	}{
		{whole, "2026-03-08T07:00:00.005Z", "2026-03-08T07:00:00.005Z"},
		{whole.Add(1), "2026-03-08T07:00:00.005Z", "2026-03-08T07:00:00.006Z"},
		{whole.Add(-1), "2026-03-08T07:00:00.004Z", "2026-03-08T07:00:00.005Z"},
		{whole.In(time.FixedZone("", 3600)), "2026-03-08T07:00:00.005Z", "2026-03-08T07:00:00.005Z"},
	} {
		if down, up := instant.Of(c.at).String(), instant.Up(c.at).String(); down != c.down || up != c.up {
			t.Errorf("%v: Of %s, Up %s; want %s and %s", c.at, down, up, c.down, c.up)
		}
	}
}

// TestArithmetic: Add and Sub count in whole milliseconds, and the zero value is no instant.
func TestArithmetic(t *testing.T) {
	at := instant.Millis(1000)
	if got := at.Add(1999 * time.Microsecond); got != 1001 || got.Sub(at) != time.Millisecond {
		t.Errorf("1000 + 1.999 ms = %d", int64(got))
	}
	if text := instant.Millis(0).String(); text != "" {
		t.Errorf("the zero value is %q", text)
	}
	if text := instant.Max.String(); text != "9999-12-31T23:59:59.999Z" {
		t.Errorf("the last instant is %s", text)
	}
}
