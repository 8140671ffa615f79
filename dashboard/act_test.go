package dashboard_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestLifeOfAJob does by plain forms all that can be done with a job. The audit log tells afterwards who did
// it, and where.
func TestLifeOfAJob(t *testing.T) {
	w := newWorld(t)
	job := func() client.JobInfo {
		info, err := w.client.Get(t.Context(), "reports/daily")
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	w.done("/new", "The job is registered.", "name", "reports/daily", "schedule", "@yearly", "target_kind", "nats",
		"target_address", "reports.run", "payload", `{"n": 1}`, "labels", "team=billing\r\ntier = 1", "description", "Sums up.", "max_attempts", "5")
	if j := job(); j.Target.Subject != "reports.run" || j.Labels["tier"] != "1" || string(j.Payload) != `{"n":1}` || j.Retry.MaxAttempts != 5 {
		t.Errorf("registered %+v", j)
	}
	page := w.done("/job/pause", "The job is paused.", "name", "reports/daily", "reason", "the target is down")
	if !strings.Contains(page.body, "the target is down") || !strings.Contains(page.body, `data-confirm="resume"`) || strings.Contains(page.body, `data-confirm="pause"`) {
		t.Error("the page does not tell that the job is paused, and by whom")
	}
	w.done("/job/resume", "The job goes on.", "name", "reports/daily")
	key := []string{"name", "reports/daily", "key", "K1", "payload", `{"by":"hand"}`}
	w.done("/job/trigger", "A run has begun.", key...)
	w.done("/job/trigger", "A run has begun.", key...)
	page2, err := w.client.ListRuns(t.Context(), client.RunListRequest{Job: "reports/daily"})
	if err != nil || len(page2.Runs) != 1 {
		t.Errorf("a trigger that was sent twice made %+v, %v", page2, err)
	}
	w.done("/job/edit", "The job is changed.", "name", "reports/daily", "if_version", "3", "schedule", "@daily", "target_kind", "nats", "target_address", "reports.run",
		"overlap_policy", "allow", "missed_run_policy", "skip", "max_attempts", "2")
	if j := job(); j.Schedule != "@daily" || j.OverlapPolicy != "allow" || j.MissedRunPolicy != "skip" || j.Payload != nil || len(j.Labels) != 0 {
		t.Errorf("changed to %+v", j)
	}
	w.done("/job/delete", "The job reports/daily is deleted.", "name", "reports/daily")
	if got := w.get("/job?name=reports%2Fdaily"); got.status != 404 {
		t.Errorf("the page of a deleted job: %d", got.status)
	}
	log, err := w.client.ListAudit(t.Context(), client.AuditRequest{Name: "reports/daily"})
	var actions []string
	for _, e := range log.Entries {
		if e.By != "alice" || e.From != "dashboard" {
			t.Errorf("%s was done by %q from %q", e.Action, e.By, e.From)
		}
		actions = append(actions, e.Action)
	}
	if want := []string{"delete", "update", "trigger", "resume", "pause", "create"}; err != nil || !slices.Equal(actions, want) {
		t.Errorf("the audit log has %v, %v; want %v", actions, err, want)
	}
}

// TestRetry lets dead runs begin again, one and then all, and cancels one that waits.
func TestRetry(t *testing.T) {
	w := newWorld(t)
	run := w.dead("broken")
	w.done("/run/retry", "The run begins another attempt.", "id", run.RunID)
	testkit.Until(w.t, "the run is dead again", func() bool {
		now, err := w.client.Run(t.Context(), run.RunID)
		return err == nil && now.Status == "dead" && now.Attempt == 2
	})
	w.done("/runs/retry", "Runs that begin another attempt: 1.", "job", "broken")
	if got := w.send("/run/cancel", "id", "0"); got.status != http.StatusUnprocessableEntity || alertOf(got.body) == "" {
		t.Errorf("cancelled an odd run: %d", got.status)
	}
	w.put(client.Job{Name: "slow", Completion: "reported", AttemptTimeout: client.Duration(60 * 60 * 1e9)})
	waiting, err := w.client.Trigger(t.Context(), client.TriggerRequest{Name: "slow"})
	if err != nil {
		t.Fatal(err)
	}
	w.done("/run/cancel", "The run is cancelled.", "id", waiting.RunID)
	if now, err := w.client.Run(t.Context(), waiting.RunID); err != nil || now.Status != "cancelled" {
		t.Errorf("the run is %+v, %v", now, err)
	}
}

// TestFormErrors sends forms with one thing wrong. The page says so at the field, and keeps what was typed.
func TestFormErrors(t *testing.T) {
	w := newWorld(t)
	w.put(client.Job{Name: "taken"})
	right := map[string]string{"name": "new", "schedule": "@daily", "target_kind": "nats", "target_address": "a.b", "payload": `{"kept":1}`, "labels": "k=v", "description": "typed"}
	for _, c := range []struct {
		field, value string
		status       int
		says         string
	}{
		{"name", "no spaces", 422, "A-Z"}, {"name", "taken", 409, ""}, {"schedule", "nonsense", 422, ""}, {"timezone", "Mars/Base", 422, ""},
		{"target_kind", "pigeon", 422, ""}, {"target_address", "with space", 422, ""}, {"payload", "{", 422, "is not JSON"},
		{"labels", "lonely", 422, "key=value"}, {"description", strings.Repeat("x", 2000), 422, ""}, {"overlap_policy", "odd", 422, ""},
		{"missed_run_policy", "odd", 422, ""}, {"max_attempts", "-1", 422, "want 1 or more"}, {"max_attempts", "1000", 422, ""},
	} {
		var fields []string
		for name, value := range right {
			if name == c.field {
				value = c.value
			}
			fields = append(fields, name, value)
		}
		if right[c.field] == "" {
			fields = append(fields, c.field, c.value)
		}
		got := w.send("/new", fields...)
		what := c.field + " " + c.value[:min(len(c.value), 20)]
		if got.status != c.status && !(c.status == 422 && got.status == 413) || !strings.Contains(alertOf(got.body), c.says) {
			t.Errorf("%s: %d %s; want %d", what, got.status, alertOf(got.body), c.status)
		}
		if err := checkHTML(got.body); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		_, at, _ := strings.Cut(got.body, `name="`+c.field+`"`)
		at, _, _ = strings.Cut(at, `<div class="field`)
		if !strings.Contains(at, "field-error") {
			t.Errorf("%s: nothing is said at the field, but %s", what, alertOf(got.body))
		}
		if c.field != "description" && !strings.Contains(got.body, ">typed</textarea>") {
			t.Errorf("%s: what was typed is lost", what)
		}
	}
	if _, err := w.client.Get(t.Context(), "new"); !client.IsNotFound(err) {
		t.Errorf("a form with errors registered a job: %v", err)
	}
}

// TestFormKeeps changes one thing of a job by the form: what the form does not have stays. A form that is
// older than the job changes nothing.
func TestFormKeeps(t *testing.T) {
	w := newWorld(t)
	window := client.Duration(0)
	before := w.put(client.Job{
		Name: "rich", Schedule: "@daily", Exclude: []string{"2030-01-01"}, Headers: map[string]string{"X-A": "b"}, PayloadBase64: []byte{0, 1, 255},
		Jitter: client.Duration(5e9), CatchupWindow: &window, Target: client.Target{Kind: "http", URL: "https://example.com/a", Method: "PUT", MaxInFlight: 7},
	})
	form := []string{"name", "rich", "if_version", "1", "schedule", "@daily\n@weekly", "target_kind", "http", "target_address", "https://example.com/b",
		"overlap_policy", "skip", "missed_run_policy", "fire_once", "max_attempts", "3", "description", "new"}
	w.done("/job/edit", "The job is changed.", form...)
	after, err := w.client.Get(t.Context(), "rich")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(after.Exclude, before.Exclude) || after.Headers["X-A"] != "b" || string(after.PayloadBase64) != string(before.PayloadBase64) ||
		after.Jitter != before.Jitter || *after.CatchupWindow != 0 || after.Target.Method != "PUT" || after.Target.MaxInFlight != 7 {
		t.Errorf("the form lost something: %+v", after)
	}
	if after.Description != "new" || len(after.Schedules) != 2 || after.Target.URL != "https://example.com/b" {
		t.Errorf("the form changed nothing: %+v", after)
	}
	if got := w.send("/job/edit", form...); got.status != http.StatusConflict || !strings.Contains(got.body, `value="1"`) {
		t.Errorf("an old form: %d %s", got.status, alertOf(got.body))
	}
}

// TestFormKeepsSpaces changes the schedule of a job by the form, which sends the other texts as a browser does. Spaces and
// lines in them stay.
func TestFormKeepsSpaces(t *testing.T) {
	w := newWorld(t)
	before := w.put(client.Job{Name: "spaced", Schedule: "@daily", Description: "  two\rlines\n", Labels: map[string]string{"a": " b ", "c": "d "}})
	w.done("/job/edit", "The job is changed.", "name", "spaced", "if_version", "1", "schedule", "@weekly", "target_kind", before.Target.Kind, "target_address", before.Target.Subject,
		"overlap_policy", "skip", "missed_run_policy", "fire_once", "description", "two\r\nlines\r\n", "labels", "a= b \r\nc=d ")
	after, err := w.client.Get(t.Context(), "spaced")
	if err != nil {
		t.Fatal(err)
	}
	if after.Schedule != "@weekly" || after.Description != before.Description || !maps.Equal(after.Labels, before.Labels) {
		t.Errorf("after the form: %q %q %q", after.Schedule, after.Description, after.Labels)
	}
}

// TestByJSON registers and changes a job by its JSON, which is handed to the API as it is.
func TestByJSON(t *testing.T) {
	w := newWorld(t)
	w.done("/new", "The job is registered.", "json", `{"name":"by/json","schedule":"@daily","target":{"kind":"nats","subject":"a"},"if_version":0}`)
	w.done("/job/edit", "The job is changed.", "name", "by/json", "if_version", "1",
		"json", `{"name":"by/json","schedule":"@weekly","target":{"kind":"nats","subject":"a"},"if_version":1}`)
	for text, says := range map[string]string{
		`{"name":"by/json","if_version":0,"schedule":"@daily","target":{"kind":"nats","subject":"a"}}`: "exists",
		`{"name":"x","sched":"@daily"}`: "sched", `{`: "", ``: "",
	} {
		got := w.send("/job/edit", "name", "by/json", "if_version", "2", "json", text)
		if got.status < 400 || got.status >= 500 || !strings.Contains(alertOf(got.body), says) || !strings.Contains(got.body, `<details class="card" open>`) {
			t.Errorf("%s: %d %s", text, got.status, alertOf(got.body))
		}
		if !strings.Contains(got.body, ">@weekly</textarea>") {
			t.Errorf("%s: the first form has lost the job", text)
		}
	}
}

// TestForeign: a page of another site changes nothing, however it asks.
func TestForeign(t *testing.T) {
	w := newWorld(t)
	w.put(client.Job{Name: "a"})
	for _, header := range []string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"} {
		name, value, _ := strings.Cut(header, ": ")
		for _, path := range []string{"/job/delete", "/job/pause", "/new", "/runs/retry"} {
			req, err := http.NewRequestWithContext(t.Context(), "POST", w.base+path, strings.NewReader("name=a"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set(name, value)
			if got := w.do(req); got.status != http.StatusForbidden || !strings.Contains(got.body, "cross_origin") {
				t.Errorf("%s with %s: %d %s", path, header, got.status, got.body)
			}
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", w.base+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	if got := w.do(req); got.status != http.StatusMisdirectedRequest {
		t.Errorf("a page for another host: %d", got.status)
	}
	if j, err := w.client.Get(t.Context(), "a"); err != nil || j.Status != "active" || j.Version != 1 {
		t.Errorf("the job is %+v, %v", j, err)
	}
}

// TestLargest: the largest payload passes through a form, and a body beyond the bound does not.
func TestLargest(t *testing.T) {
	w := newWorld(t)
	payload := `"` + strings.Repeat("%", 256<<10-2) + `"`
	w.done("/new", "The job is registered.", "name", "large", "schedule", "@daily", "target_kind", "nats", "target_address", "a", "payload", payload)
	w.check("/job?name=large", 200)
	w.check("/job/edit?name=large", 200)
	if got := w.send("/new", "payload", strings.Repeat("x", 3<<20)); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 3 MiB: %d", got.status)
	}
}
