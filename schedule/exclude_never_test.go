package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// TestExclusionsThatLeaveNothing are refused, and quickly.
func TestExclusionsThatLeaveNothing(t *testing.T) {
	for _, c := range []struct{ expr, exclude, zone string }{
		{"* * * * *", "* * * * *", "America/New_York"},
		{"* * * * * *", "* * * * *", ""},
		{"0 * * * *", "0 * * * *", "America/New_York"},
		{"0 * * * *", "0 0-11 * * *\n0 12-23 * * *", "Europe/Berlin"},
		{"* * * * *", "*/2 * * * *\n1/2 * * * *", "Europe/Berlin"},
		{"* * * * * *", "*/2 * * * * *\n1/2 * * * * *", "Europe/Berlin"},
		{"0 8 * * 6", "* * * * 6", "Europe/Berlin"},
		{"0 8 * * 1-5", "* * 1-15 * *\n* * 16-31 * *", "Europe/Berlin"},
		{"0 8 L * *", "* * 28-31 * *", "Asia/Tokyo"},
		{"0 0 8 * * * 2027", "2026-12-31/2027-12-31", "Asia/Tokyo"},
		{"0 8 * * *", "1970-01-01/9999-12-31", "Asia/Tokyo"},
		{"0 8 * * *", "1970-01-01T00:00:00Z/9999-12-31T23:59:59.999Z", "Asia/Tokyo"},
		{"@every 1h", "* * * * *", "Asia/Tokyo"},
		{"@every 10ms", "1970-01-01/2199-12-31\n2200-01-01/9999-12-31", ""},
		{"0 8 * * *\n0 9 * * *", "* 8,9 * * *", "Asia/Tokyo"},
	} {
		start := time.Now()
		_, err := Parse(Spec{Expr: c.expr, Exclude: c.exclude, Zone: c.zone})
		took := time.Since(start)
		if e := apierr.From(err); err == nil || e.Code != apierr.InvalidSchedule || e.Field != "exclude" || !strings.Contains(e.Message, "leaves no tick") {
			t.Errorf("%q without %q: %v; want a refusal", c.expr, c.exclude, err)
		}
		t.Logf("%q without %q: %s", c.expr, c.exclude, took)
		if took > time.Second {
			t.Errorf("%q without %q took %s", c.expr, c.exclude, took)
		}
	}
}
