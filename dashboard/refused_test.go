package dashboard_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestRefusedPagesHaveAnAddress: a page that shows what went wrong with an action leads back to itself when another zone is
// chosen.
func TestRefusedPagesHaveAnAddress(t *testing.T) {
	w := newWorld(t)
	w.put(client.Job{Name: "a", Schedule: "@daily"})
	for _, c := range []struct{ path, fields, back string }{
		{"/job/edit", "name=a&if_version=1&schedule=often", "/job/edit?name=a"},
		{"/job/trigger", "name=a&payload={", "/job?name=a"},
		{"/job/backfill", "name=a&from=never&to=2026-01-01", "/job/backfill?from=never&amp;name=a&amp;to=2026-01-01"},
		{"/runs/retry", "job=a&from=never", "/runs?from=never&amp;job=a&amp;status=dead"},
		{"/run/cancel", "id=x", "/run?id=x"},
		{"/jobs/pause?label=team%3Da", "", "/jobs?label=team%3Da"},
		{"/new", "name=b&schedule=often", "/new"},
	} {
		var pairs []string
		for pair := range strings.SplitSeq(c.fields, "&") {
			if name, value, found := strings.Cut(pair, "="); found {
				pairs = append(pairs, name, value)
			}
		}
		got := w.send(c.path, pairs...)
		if want := `name="back" value="` + c.back + `"`; got.status < 400 || !strings.Contains(got.body, want) {
			_, at, _ := strings.Cut(got.body, `name="back" `)
			t.Errorf("%s: %d; want %s, has %.80s", c.path, got.status, want, at)
		}
	}
}

// TestForeignFieldsAreRefused: an action on many runs does not take a filter that it does not know.
func TestForeignFieldsAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/runs/retry", "/runs/dismiss"} {
		if got := w.send(path, "cause", "abc"); got.status != http.StatusUnprocessableEntity || !strings.Contains(alertOf(got.body), "is no field of this form") {
			t.Errorf("%s: %d %s", path, got.status, alertOf(got.body))
		}
	}
	for path, want := range map[string]string{
		"/job/backfill?name=a&from=2026-01-01&to=2026-01-02&repeat=no": "want yes, or nothing",
		"/runs?status=succeeded": "want the name of a job: without one, only dead runs can be listed",
	} {
		w.put(client.Job{Name: "a", Schedule: "@daily"})
		if got := w.get(path); got.status != http.StatusUnprocessableEntity || !strings.Contains(alertOf(got.body), want) {
			t.Errorf("%s: %d %s", path, got.status, alertOf(got.body))
		}
	}
}

// TestScheduleGoesOn: what was tried for a job, and what was tried in the playground, arrives with its exclusions.
func TestScheduleGoesOn(t *testing.T) {
	w := newWorld(t)
	w.put(client.Job{Name: "a", Schedules: []string{"0 9 * * *", "0 10 * * 6"}, Exclude: []string{"2030-12-25", "* * * * 0"}})
	follow := func(from, begin string) answer {
		_, rest, found := strings.Cut(w.get(from).body, `href="`+begin)
		if !found {
			t.Fatalf("%s has no link to %s", from, begin)
		}
		address, _, _ := strings.Cut(rest, `"`)
		return w.get(begin + html.UnescapeString(address))
	}
	for _, want := range []string{">0 9 * * *\n0 10 * * 6</textarea>", ">2030-12-25\n* * * * 0</textarea>"} {
		for _, page := range []answer{follow("/job?name=a", "/playground?"), follow("/playground?"+url.Values{"schedule": {"0 9 * * *\n0 10 * * 6"}, "exclude": {"2030-12-25\n* * * * 0"}}.Encode(), "/new?")} {
			if !strings.Contains(page.body, want) {
				t.Errorf("the next page has no %q", want)
			}
		}
	}
	w.done("/new", "The job is registered", "name", "b", "schedule", "@every 1h", "exclude", "2030-12-25\n", "starts_at", "2030-01-01T00:00:00Z", "target_kind", "nats", "target_address", "x")
	got, err := w.client.Get(t.Context(), "b")
	if err != nil || len(got.Exclude) != 1 || got.StartsAt.String() != "2030-01-01T00:00:00.000Z" && got.StartsAt.String() != "2030-01-01T00:00:00Z" {
		t.Errorf("%v, %v from %s", err, got.Exclude, got.StartsAt)
	}
}
