package metrics

import (
	"strings"
	"testing"
	"time"
)

// inForce are rights of a file that was read at an instant; none at the zero time.
type inForce time.Time

func (inForce) Denied() (unknown, forbidden, logins uint64) { return 1, 2, 3 }
func (inForce) Refused() uint64                             { return 4 }
func (inForce) IsFileBad() bool                             { return true }
func (f inForce) InForce() (principals, tenants int, readAt time.Time) {
	return 5, 6, time.Time(f)
}

// TestRightsInForce: a server with rights says how many are in force and since when, and one without says nothing of it.
func TestRightsInForce(t *testing.T) {
	text := scrapeText(New(Options{Logger: quiet, Rights: inForce(time.UnixMilli(1_700_000_000_250))}))
	for _, line := range []string{"carillon_auth_principals 5", "carillon_auth_tenants 6", "carillon_auth_file_read_timestamp_seconds 1.70000000025e+09", "carillon_auth_file_refused_total 4", "carillon_auth_file_bad 1"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	text = scrapeText(New(Options{Logger: quiet, Rights: inForce{}}))
	for _, name := range []string{"carillon_auth_principals", "carillon_auth_tenants", "carillon_auth_file_read", "carillon_auth_file_bad"} {
		if strings.Contains(text, name) {
			t.Errorf("a server without rights shows %s", name)
		}
	}
}
