package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

// in opens a page as a reader who has chosen a zone.
func (w *world) in(zone, path string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), "GET", w.base+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.AddCookie(&http.Cookie{Name: "carillon-zone", Value: zone})
	got := w.do(req)
	if err := checkHTML(got.body); err != nil {
		w.t.Errorf("%s in %s: %v", path, zone, err)
	}
	return got.body
}

// TestZone: a reader chooses the zone of times, which a cookie remembers; each page shows its times in it, and says so. What
// is no zone counts as UTC.
func TestZone(t *testing.T) {
	w := newWorld(t)
	w.put(client.Job{Name: "tokyo", Schedule: "@yearly", Timezone: "Asia/Tokyo", StartsAt: client.At(time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC))})
	const job = "/job?name=tokyo"
	for zone, want := range map[string]string{
		"": "2030-06-01 12:00:00 UTC", "UTC": "2030-06-01 12:00:00 UTC", "job": "2030-06-01 21:00:00 JST", "Europe/Berlin": "2030-06-01 14:00:00 CEST",
		"Mars/Base": "2030-06-01 12:00:00 UTC", "Local": "2030-06-01 12:00:00 UTC", "../../etc/passwd": "2030-06-01 12:00:00 UTC",
		strings.Repeat("Europe/", 500): "2030-06-01 12:00:00 UTC",
	} {
		if page := w.in(zone, job); !strings.Contains(page, want) {
			t.Errorf("in the zone %.40q the page of the job has no %s", zone, want)
		}
	}
	if page := w.in("job", "/jobs"); !strings.Contains(page, `JST">in `) {
		t.Error("the list of jobs does not show a job's times in its zone")
	}
	if page := w.in("Europe/Berlin", "/audit"); !strings.Contains(page, " CET</time>") && !strings.Contains(page, " CEST</time>") || strings.Contains(page, " UTC</time>") {
		t.Error("the audit log is not in the zone of the reader")
	}
	if page := w.in("Europe/Berlin", "/"); !strings.Contains(page, `<option value="Europe/Berlin" selected>`) {
		t.Error("the page does not say in which zone its times are")
	}
}

// TestChooseZone: the form sets the cookie and leads back to the page, to one of this server in any case.
func TestChooseZone(t *testing.T) {
	w := newWorld(t)
	const job = "/job?name=tokyo"
	sent := w.send("/zone", "zone", "Europe/Berlin", "back", job)
	cookie := sent.header.Get("Set-Cookie")
	if sent.status != http.StatusSeeOther || sent.header.Get("Location") != job || !strings.HasPrefix(cookie, "carillon-zone=Europe/Berlin;") ||
		!strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
		t.Errorf("the choice: %d to %s with %s", sent.status, sent.header.Get("Location"), cookie)
	}
	for _, zone := range []string{"Mars/Base", "Local", "a b; Path=/x", "\"x"} {
		if got := w.send("/zone", "zone", zone, "back", job); got.status != http.StatusUnprocessableEntity || got.header.Get("Set-Cookie") != "" {
			t.Errorf("the zone %q that is none: %d %s", zone, got.status, got.header.Get("Set-Cookie"))
		}
	}
	for _, back := range []string{"https://evil.example/", "//evil.example/", "/api/v1/status", "javascript:alert(1)", "%zz", "", "/zone", "\\\\evil.example", "/jobs/pause"} {
		if got := w.send("/zone", "zone", "job", "back", back); got.header.Get("Location") != "/" {
			t.Errorf("back to %q leads to %s", back, got.header.Get("Location"))
		}
	}
}

// TestTypedTimes: times in forms are in the zone that the form was shown in, and are shown again in that of the page. The
// links and the confirmations of a page carry that zone, so that a choice between two clicks changes no range.
func TestTypedTimes(t *testing.T) {
	w := newWorld(t)
	w.put(client.Job{Name: "tokyo", Schedule: "0 8 * * *", Timezone: "Asia/Tokyo"})
	w.dead("broken")
	for _, c := range []struct{ zone, path, want string }{
		{"UTC", "/audit?from=2026-01-01T12:00", `name="from" type="datetime-local" step="1" value="2026-01-01T12:00:00"`},
		{"Europe/Berlin", "/audit?from=2026-01-01T12:00", `value="2026-01-01T13:00:00"`},
		{"Europe/Berlin", "/audit?from=2026-01-01T12:00&times_in=Europe%2FBerlin", `value="2026-01-01T12:00:00"`},
		{"Europe/Berlin", "/audit?from=2026-01-01T12:00:00%2B05:00", `value="2026-01-01T08:00:00"`},
		{"Asia/Tokyo", "/runs?from=2026-01-01T12:00&times_in=Europe%2FBerlin", `<input type="hidden" name="from" value="2026-01-01T11:00:00Z">`},
		{"job", "/runs?job=tokyo&from=2026-01-01T12:00", `From (Asia/Tokyo) <input name="from" type="datetime-local" step="1" value="2026-01-01T21:00:00">`},
		{"job", "/runs?job=nowhere", `From (UTC)`},
		{"job", "/job/backfill?name=tokyo&from=2026-01-01T00:00&to=2026-01-03T00:00&times_in=Asia%2FTokyo", "2 runs would fire"},
		{"UTC", "/playground?schedule=@daily&after=2026-01-01T12:00&times_in=Asia%2FTokyo", `value="2026-01-01T03:00:00"`},
		{"UTC", "/audit?from=2026-01-01&times_in=Mars%2FBase", "is no timezone"},
		{"Europe/Berlin", "/audit?from=soon&times_in=Europe%2FBerlin", "want one in Europe/Berlin"},
	} {
		if page := w.in(c.zone, c.path); !strings.Contains(page, c.want) {
			t.Errorf("%s in %s has no %s", c.path, c.zone, c.want)
		}
	}
	// In the hour that comes twice the confirmation carries what the preview showed, and so do fractions of a second.
	page := w.in("Europe/Berlin", "/job/backfill?name=tokyo&times_in=UTC&from=2025-10-25T00:30:00.5Z&to=2025-10-27T01:30")
	for _, want := range []string{`name="from" value="2025-10-25T00:30:00.5Z"`, `name="to" value="2025-10-27T01:30:00Z"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the confirmation of a backfill has no %s", want)
		}
	}
	got := w.send("/runs/dismiss", "from", "2020-01-01T00:00:00", "times_in", "Asia/Tokyo")
	if to := got.header.Get("Location"); got.status != http.StatusSeeOther || !strings.Contains(to, "times_in=Asia%2FTokyo") {
		t.Errorf("after the action: %d to %s", got.status, to)
	}
}
