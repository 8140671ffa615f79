package api

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// TestReadWholeJob reads every member of the contract's example.
func TestReadWholeJob(t *testing.T) {
	p, err := readPut([]byte(`{
  "name": "daily-report", "schedule": "0 8 * * 1-5", "timezone": "America/New_York",
  "starts_at": "2026-12-01T00:00:00.0001Z", "ends_at": null, "max_runs": 5, "jitter": "30s", "exclude": ["2026-12-25", "@calendar holidays"],
  "target": {"kind": "http", "url": "https://example.com/hook", "max_in_flight": 12},
  "payload": {"any" : "json"}, "headers": {"X-Team": "billing", "X-A": "1"},
  "completion": "reported", "attempt_timeout": "1m30s",
  "retry": {"max_attempts": 4, "initial_interval": "2s", "multiplier": 1.5, "max_interval": "1d", "max_age": "7d", "jitter": 0, "client_errors": true},
  "pause_on_failure": 5, "overlap_policy": "allow", "max_concurrent": 3, "missed_run_policy": "backfill", "catchup_window": "2d", "max_catchup_runs": 20,
  "paused": true, "labels": {"team": "billing"}, "description": "d",
  "id": 7, "tenant": {}, "version": "x", "status": null, "status_reason": [], "status_by": 1, "next_run_at": 1, "next_launch_at": [], "last_run": "x", "created_at": {}, "updated_at": 0
}`))
	if err != nil {
		t.Fatal(err)
	}
	want := job.Definition{
		Tenant: "default", Name: "daily-report", Schedule: "0 8 * * 1-5", Timezone: "America/New_York",
		StartsAt: instant.Of(time.Date(2026, 12, 1, 0, 0, 0, 1e6, time.UTC)), MaxRuns: 5, Jitter: 30 * time.Second,
		Exclude: []string{"2026-12-25", "@calendar holidays"},
		Target:  job.Target{Kind: job.TargetHTTP, URL: "https://example.com/hook", Method: "POST", MaxInFlight: 12},
		Payload: []byte(`{"any" : "json"}`), PayloadJSON: true,
		Headers:    []job.Pair{{Key: "X-A", Value: "1"}, {Key: "X-Team", Value: "billing"}},
		Completion: job.CompletionReported, AttemptTimeout: 90 * time.Second,
		Retry:          job.Retry{MaxAttempts: 4, InitialInterval: 2 * time.Second, Multiplier: 1.5, MaxInterval: 24 * time.Hour, MaxAge: 7 * 24 * time.Hour, ClientErrors: true},
		PauseOnFailure: 5, Overlap: job.OverlapAllow, MaxConcurrent: 3, Missed: job.MissedBackfill, CatchupWindow: 48 * time.Hour, MaxCatchupRuns: 20,
		Paused: true, Labels: []job.Pair{{Key: "team", Value: "billing"}}, Description: "d",
	}
	if !reflect.DeepEqual(p.def, want) {
		t.Errorf("got  %+v\nwant %+v", p.def, want)
	}
}

// TestBulkKeepsPlaces reads good and bad jobs together: each keeps its place, its name and its error.
func TestBulkKeepsPlaces(t *testing.T) {
	jobs := []struct{ text, name, code, field string }{
		{apitest.JobWith("name", `"a"`), "a", "", ""},
		{`{"max_runs":-1,"target":{"kind":"nats","name":"x"},"name":"late"}`, "late", "invalid_field", "max_runs"},
		{`{"retry":{"max_attempts":{}, "name":"no"},"name":"b"}`, "b", "invalid_field", "retry.max_attempts"},
		{`7`, "", "invalid_field", ""},
		{`{"name":5,"x":"name"}`, "", "invalid_field", "name"},
		{`{"name":"c","nmae":"d"}`, "c", "unknown_field", "nmae"},
		{`{"labels":` + apitest.ManyPairs(40) + `,"name":"many"}`, "many", "too_large", "labels"},
		{apitest.JobWith("name", `"a"`, "target", `{"kind":"nats","subject":"a..b"}`), "a", "invalid_target", "target.subject"},
		{apitest.JobWith("name", `"z"`), "z", "", ""},
	}
	var texts []string
	for _, j := range jobs {
		texts = append(texts, j.text)
	}
	b := bulkRequest{tenant: "default", most: 100, prepare: prepareNothing}
	if err := readBulk([]byte(`{"jobs":[`+strings.Join(texts, ",")+`]}`), &b); err != nil {
		t.Fatal(err)
	}
	if len(b.items) != len(jobs) {
		t.Fatalf("%d items, want %d", len(b.items), len(jobs))
	}
	for i, want := range jobs {
		code, field := "", ""
		if e, ok := errors.AsType[*apierr.Error](b.items[i].Err); ok {
			code, field = string(e.Code), e.Field
		}
		if b.names[i] != want.name || code != want.code || field != want.field || (b.items[i].Put == nil) != (code != "") {
			t.Errorf("job %d: name %q, code %q, field %q; want %+v", i, b.names[i], code, field, want)
		}
	}
}

func TestAdviceOnUnknownMembers(t *testing.T) {
	for name, want := range map[string]string{
		"shedule": `did you mean "schedule"?`, "retries": `want attempt_timeout, catchup_window`, "Name": `did you mean "name"?`,
		"time_zone": `did you mean "timezone"?`, "x": "want ",
	} {
		_, err := readPut([]byte(apitest.JobWith(name, "1")))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want advice %q", name, err, want)
		}
	}
}

func TestCursors(t *testing.T) {
	q := query{"jobs", "default", "a", "", "k", "v"}
	cursor := q.cursor("a-job")
	if key, err := q.key(cursor); err != nil || key != "a-job" {
		t.Fatalf("%q, %v", key, err)
	}
	if q.cursor("") != "" {
		t.Error("the end has a cursor")
	}
	// Queries whose parts only run together alike are others.
	for _, other := range []query{{"jobs", "default", "a", "", "kv", ""}, {"jobs", "default", "", "a", "k", "v"}, {"runs", "default", "a", "", "k", "v"}} {
		if _, err := other.key(cursor); err == nil {
			t.Errorf("%q takes the cursor of %q", other, q)
		}
	}
	for i := range len(cursor) {
		if _, err := q.key(cursor[:i]); err == nil && i > 0 {
			t.Errorf("cut to %d of %d characters it is taken", i, len(cursor))
		}
	}
}
