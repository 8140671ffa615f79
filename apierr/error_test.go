package apierr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/apierr"
)

// TestFrom: a refusal keeps its code, field and text however it is wrapped; the text of any other error stays inside.
func TestFrom(t *testing.T) {
	refused := apierr.Errorf(apierr.InvalidField, "jitter", "must be between 0s and %s", "24h")
	if got := apierr.From(fmt.Errorf("put: %w", refused)); got != refused || got.Error() != "jitter: must be between 0s and 24h" {
		t.Errorf("got %v", got)
	}
	if got := apierr.From(errors.New("open /data/secret: permission denied")); got.Code != apierr.Internal || strings.Contains(got.Error(), "secret") {
		t.Errorf("got %v", got)
	}
}

// TestIndexed: an error of a member of a list names its place, counted from 0.
func TestIndexed(t *testing.T) {
	err := apierr.Indexed(apierr.Errorf(apierr.InvalidSchedule, "schedule", "is empty"), "schedules", 2)
	if got := apierr.From(err); got.Field != "schedules.2" || got.Code != apierr.InvalidSchedule || got.Message != "is empty" {
		t.Errorf("got %+v", got)
	}
}

// TestTexts: what a caller sent is cut for a message, and the first character that is not allowed is found.
func TestTexts(t *testing.T) {
	long := strings.Repeat("x", 100)
	if got := apierr.Clip(long); len(got) >= len(long) || !strings.HasSuffix(got, "…") || apierr.Clip("short") != "short" {
		t.Errorf("cut to %q", got)
	}
	if got := apierr.Clip("x" + strings.Repeat("é", 100)); got != "x"+strings.Repeat("é", 39)+"…" {
		t.Errorf("a character was cut: %q", got)
	}
	for _, rest := range []string{"\x80", "\xf0\x80"} {
		if got := apierr.Clip(strings.Repeat(rest, 100)); len(got) > 83 || !strings.HasSuffix(got, "…") {
			t.Errorf("what is no UTF-8 is cut to %q", got)
		}
	}
	for text, want := range map[string]int{"reports/daily": -1, "": -1, "a b": 1, "é": 0, "x_": 1} {
		if got := apierr.IndexOutside(text, "./-"); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
