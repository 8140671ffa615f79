package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

const target = "\ntarget: {kind: nats, subject: a.b}\n"

// TestReadWanted: a file gives the jobs in it, or says what is wrong and in which line.
func TestReadWanted(t *testing.T) {
	bomb := "name: a\npayload:\n  x0: &x0 [1]\n"
	for i := range 40 {
		bomb += fmt.Sprintf("  x%d: &x%d [*x%d, *x%d]\n", i+1, i+1, i, i)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"empty documents", "---\n---\n# nothing\n", ""},
		{"one", "name: a\nschedule: '@daily'" + target, "a"},
		{"documents", "name: a\nschedule: '@daily'" + target + "---\nname: b\nschedule: 0 8 * * *" + target, "a b"},
		{"JSON lines", "{\"name\":\"a\",\"schedule\":\"@daily\",\"target\":{\"kind\":\"nats\",\"subject\":\"a\"}}\n{\"name\":\"b\",\"schedule\":\"@daily\",\"target\":{\"kind\":\"nats\",\"subject\":\"a\"}}", "a b"},
		{"what the server adds is dropped", "name: a\nschedule: '@daily'\nversion: 7\nstatus: active" + target, "a"},
		{"a text", "carillon", "f:1: is no job"},
		{"a list of lists", "- - name: a", "f:1: is no job"},
		{"no list", "jobs: many", "f:1: jobs: want a list"},
		{"a key beside the list", "jobs: []\ntenant: x", "f:2: tenant: nothing but the list"},
		{"a key deep inside", "name: a\nretry:\n  max_atempts: 3", "f:3: retry.max_atempts: no field"},
		{"a merge", "name: a\n<<: {paused: true}", "f:2: merging (<<) is not taken"},
		{"a number that is none", "name: a\npayload: [1,\n  .nan]", "f:3: .nan is no number"},
		{"a key that is no text", "name: a\n? [1]\n: 2", "f:2: a key must be a text"},
		{"itself in itself", "name: a\npayload: &a [*a, *a]", "deeper than 100 levels"},
		{"a bomb", bomb, "has more than 2097152 bytes"},
		{"no such schedule", "name: a\nschedule: 0 8 * *" + target, "f:2: a: schedule: "},
		{"no target", "name: a\nschedule: '@daily'", "f:1: a: target"},
		{"left out payload", "name: a\npayload_omitted: true", "f:1: a: its payload was left out"},
	} {
		jobs, err := readWanted("f", []byte(c.text), "set")
		var names []string
		for _, j := range jobs {
			names = append(names, j.job.Name)
			if j.job.Labels[setLabel] != "set" {
				t.Errorf("%s: labels %v", c.name, j.job.Labels)
			}
		}
		if got := strings.Join(names, " "); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

// TestPlanJob: a job is updated only if its meaning differs from that of the server's, however the file writes it.
// TestPruneUsesTheVersion: a job of the set that was changed after it was listed is not deleted.
func TestPruneUsesTheVersion(t *testing.T) {
	version := ""
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		version = req.Method + " " + req.Header.Get("If-Match")
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusPreconditionFailed)
		_, _ = io.WriteString(rw, `{"error": {"code": "version_conflict", "message": "it has version 8"}}`)
	}))
	defer s.Close()
	c, err := client.Connect(s.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	step := applyStep{name: "a", action: actionDelete, version: 7}
	if err := step.carryOut(t.Context(), &remote{Client: c}, false); !errors.Is(err, errChanged) || version != `DELETE "7"` {
		t.Errorf("%v after %s; want errChanged after a deletion of version 7", err, version)
	}
}

func TestPlanJob(t *testing.T) {
	server := client.JobInfo{Version: 4, Job: client.Job{
		Name: "a", Schedule: "@daily", Target: client.Target{Kind: "http", URL: "https://x.y", Method: "POST"},
		Payload: []byte(`{"a":1.50,"b":"é"}`), Headers: map[string]string{}, Labels: map[string]string{"l": "v"},
		Completion: "delivered", AttemptTimeout: client.Duration(30e9),
		Retry:         client.Retry{MaxAttempts: 3, InitialInterval: client.Duration(1e9), Multiplier: 2, MaxInterval: client.Duration(300e9), Jitter: new(0.1)},
		OverlapPolicy: "skip", MissedRunPolicy: "fire_once", CatchupWindow: new(client.Duration(3600e9)), MaxCatchupRuns: new(uint32(10)),
		Paused: true,
	}}
	same := func() wantedJob {
		return wantedJob{job: client.Job{
			Name: "a", Schedules: []string{"@daily"}, Target: client.Target{Kind: "http", URL: "https://x.y"},
			Payload: []byte(`{ "a": 1.50, "b": "\u00e9" }`), Labels: map[string]string{"l": "v"},
		}}
	}
	for name, c := range map[string]struct {
		change func(*wantedJob)
		want   applyAction
	}{
		"nothing":            {func(*wantedJob) {}, actionKeep},
		"a default said":     {func(w *wantedJob) { w.job.OverlapPolicy = "skip" }, actionKeep},
		"paused said":        {func(w *wantedJob) { w.saysPaused, w.job.Paused = true, true }, actionKeep},
		"not paused":         {func(w *wantedJob) { w.saysPaused = true }, actionUpdate},
		"another policy":     {func(w *wantedJob) { w.job.OverlapPolicy = "allow" }, actionUpdate},
		"digits of a number": {func(w *wantedJob) { w.job.Payload = []byte(`{"a":1.5,"b":"é"}`) }, actionUpdate},
		"a label less":       {func(w *wantedJob) { w.job.Labels = nil }, actionUpdate},
		"a jitter of none":   {func(w *wantedJob) { w.job.Retry.Jitter = new(0.0) }, actionUpdate},
		"no payload":         {func(w *wantedJob) { w.job.Payload = nil }, actionUpdate},
	} {
		w := same()
		c.change(&w)
		s, err := planJob(&w, &server)
		if err != nil || s.action != c.want || s.version != 4 || (s.diff != "") != (c.want == actionUpdate) {
			t.Errorf("%s: %+v, %v; want %s", name, s, err, c.want)
		}
	}
	w := same()
	if s, err := planJob(&w, &client.JobInfo{}); err != nil || s.action != actionCreate || s.version != 0 {
		t.Errorf("a new one: %+v, %v", s, err)
	}
}

// FuzzReadWanted: no text makes the reader panic or read without end.
func FuzzReadWanted(f *testing.F) {
	f.Add("name: a\nschedule: '@daily'" + target)
	f.Add(`{"jobs":[{"name":"a","schedule":"@daily","target":{"kind":"nats","subject":"a"},"payload":[1e5,"\ud83d\ude00"]}]}`)
	f.Add("- &a [*a, {x: 0x1F, y: 1_000, z: .5}]\n---\n<<: *a")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := readWanted("f", []byte(text), "set")
		if err != nil && len(jobs) > 0 {
			t.Fatalf("%d jobs and %v", len(jobs), err)
		}
	})
}
