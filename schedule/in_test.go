package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/schedule"
)

var settledAt = instant.Of(time.Date(2026, 11, 21, 12, 0, 0, int(250*time.Millisecond), time.UTC))

// TestSettle: an @in becomes the @at that it means; everything else stays as it was written.
func TestSettle(t *testing.T) {
	for expr, want := range map[string]string{
		"@in 10m":                      "@at 2026-11-21T12:10:00.250Z",
		"@in 0s":                       "@at 2026-11-21T12:00:00.250Z",
		"@in 0":                        "@at 2026-11-21T12:00:00.250Z",
		"@in 1ns":                      "@at 2026-11-21T12:00:00.251Z",
		" @in\t 2d12h ":                "@at 2026-11-24T00:00:00.250Z",
		"@in 3660d":                    "@at 2036-11-28T12:00:00.250Z",
		"CRON_TZ=Europe/Berlin @in 1h": "CRON_TZ=Europe/Berlin @at 2026-11-21T13:00:00.250Z",
		"TZ=UTC @in 1.5s":              "CRON_TZ=UTC @at 2026-11-21T12:00:01.750Z",
		"@every 10m":                   "@every 10m",
		"0 8 * * @in":                  "0 8 * * @in",
		"@inside 10m":                  "@inside 10m",
		"":                             "",
	} {
		got, err := schedule.Settle(expr, settledAt)
		if err != nil || got != want {
			t.Errorf("%q becomes %q, %v; want %q", expr, got, err, want)
		}
		if strings.Contains(want, "@at") {
			if _, err := schedule.Parse(schedule.Spec{Expr: got}); err != nil {
				t.Errorf("%q becomes %q, which is refused: %v", expr, got, err)
			}
		}
	}
}

// TestSettleRefuses: what is no time within ten years is refused with what would be right.
func TestSettleRefuses(t *testing.T) {
	for expr, want := range map[string]string{
		"@in":                             "has no duration",
		"@in ":                            "has no duration",
		"@in -1s":                         "no duration",
		"@in +1s":                         "no duration",
		"@in 10":                          "no duration",
		"@in ten minutes":                 "no duration",
		"@in 1h 30m":                      "no duration",
		"@in 3660d1ns":                    "at most 3660d",
		"@in 99999999d":                   "at most 3660d",
		"@in 2562047h":                    "at most 3660d",
		"@in " + strings.Repeat("9", 250): "no duration",
		"CRON_TZ= @in 5s":                 "is missing after CRON_TZ=",
	} {
		got, err := schedule.Settle(expr, settledAt)
		var refusal *apierr.Error
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Message, want) {
			t.Errorf("%q becomes %q, %v; want an error with %q", expr, got, err, want)
		}
	}
	if _, err := schedule.Settle("@in 1h", instant.Max-1); err == nil || !strings.Contains(err.Error(), "9999") {
		t.Errorf("an @in beyond the end of time is refused with %v", err)
	}
	_, err := schedule.Parse(schedule.Spec{Expr: "@in 10m"})
	if err == nil || !strings.Contains(err.Error(), "want @at") {
		t.Errorf("an @in that nobody has accepted compiles, %v; its instant would be another at each start", err)
	}
}

// FuzzSettle: whatever is settled is a schedule, or is refused; nothing but an @in changes.
func FuzzSettle(f *testing.F) {
	for _, seed := range []string{"@in 10m", "@in 2d12h", "CRON_TZ=Europe/Berlin @in 1h", "TZ= @in 1s", "@at 2026-12-01T08:00:00Z", "0 8 * * 1", "@in .5ms"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		got, err := schedule.Settle(expr, settledAt)
		if err != nil || got == expr {
			return
		}
		s, err := schedule.Parse(schedule.Spec{Expr: got})
		if err != nil {
			var refusal *apierr.Error
			if !errors.As(err, &refusal) || refusal.Code != apierr.InvalidTimezone {
				t.Fatalf("%q becomes %q, which is refused: %v", expr, got, err)
			}
			return
		}
		at, ok := s.Next(settledAt-1, settledAt)
		if !ok || at < settledAt || at > settledAt+instant.MillisUp(schedule.InMax) {
			t.Fatalf("%q becomes %q, at %v", expr, got, at)
		}
	})
}
