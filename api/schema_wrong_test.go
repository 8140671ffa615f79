package api

import (
	stdjson "encoding/json"
	"fmt"
	"iter"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// TestSchemasLetCountsGrow: no reply breaks its schema because a count has become large.
func TestSchemasLetCountsGrow(t *testing.T) {
	const many = 1 << 40
	lateness := scheduler.Lateness{Count: many, P50: time.Hour, Max: 1000 * time.Hour}
	st := scheduler.Status{
		Jobs: many, Armed: many, Waiting: many, Live: many, Fired: many, Commits: many, Lateness: lateness, DecisionLateness: lateness,
		Waited: [scheduler.WaitReasons]scheduler.Lateness{lateness, lateness, lateness, lateness},
	}
	cluster := func() *client.Cluster {
		return &client.Cluster{Name: "prod", Role: "leader", Lag: many, Void: map[string]uint64{"late": many}, Nodes: []client.ClusterNode{{Node: "a", LSN: many, ClockOffsetMS: -3}}}
	}
	for verb, reply := range map[string]any{
		"status":          statusInfo(st, "v1", cluster),
		"runs.retry_many": &client.RetryManyReply{Retried: many}, "runs.dismiss_many": &client.DismissManyReply{Dismissed: many}, "jobs.backfill": &client.BackfillReply{Runs: many},
		"jobs.delete": &client.DeleteReply{Runs: client.DeletedRuns{Cancelled: many, Running: many}},
	} {
		text, err := json.Marshal(reply, encoding)
		if err != nil {
			t.Fatal(err)
		}
		metadata, err := VerbNamed(verb).metadata()
		if err != nil {
			t.Fatal(err)
		}
		apitest.Conform(t, verb, metadata[metaResponse], string(text))
	}
}

// TestConformRefuses: the check of the tests finds what is wrong, wherever it is. Each member of each good request
// and reply is left out, replaced and joined by an unknown one in turn.
func TestConformRefuses(t *testing.T) {
	whole := apitest.WholeJob()
	job := string(appendJob(nil, masked(&whole), true))
	found := map[string]int{}
	for verb, reply := range map[string]string{
		"jobs.get": `{"job":` + job + `}`,
		"jobs.put_many": `{"results":[{"name":"a","id":"1","version":1,"next_run_at":null},{"name":"b","error":{"code":"invalid_name","message":"m","field":"name"}}],` +
			`"accepted":1,"rejected":1}`,
		"calendars.list": `{"calendars":[{"name":"a","exclude":["2026-12-25"],"description":"","version":1,"updated_at":"2026-01-01T00:00:00.000Z"}]}`,
	} {
		metadata, err := VerbNamed(verb).metadata()
		if err != nil {
			t.Fatal(err)
		}
		apitest.Conform(t, verb, metadata[metaResponse], reply)
		for what, wrong := range mutations(apitest.Decoded(t, reply)) {
			text, err := stdjson.Marshal(wrong)
			if err != nil {
				t.Fatal(err)
			}
			if apitest.Conforms(metadata[metaResponse], string(text)) != nil {
				found[strings.Fields(what)[0]]++
			} else if !isFree(what) {
				t.Errorf("%s: with %s it conforms", verb, what)
			}
		}
	}
	for _, kind := range []string{"unknown", "without", "instead"} {
		if found[kind] < 10 {
			t.Errorf("%d mutations of the kind %q were found", found[kind], kind)
		}
	}
}

// isFree reports whether a member may have any value, or be left out.
func isFree(what string) bool {
	for _, free := range []string{
		".payload", ".headers", ".labels", "without .next_cursor", "without .job.next_launch_at", "without .results", "without .job.schedule", "without .job.exclude",
		"without .job.target.", "without .job.retry.jitter",
	} {
		if strings.Contains(what, free) {
			return true
		}
	}
	return false
}

// mutations yields a value with one thing wrong at a time, and what that is.
func mutations(v any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		mutate(v, "", v, yield)
	}
}

func mutate(root any, path string, at any, yield func(string, any) bool) bool {
	switch at := at.(type) {
	case []any:
		for i, item := range at {
			if !mutate(root, fmt.Sprintf("%s.%d", path, i), item, yield) {
				return false
			}
		}
	case map[string]any:
		at["nothing"] = 1.0
		if !yield("unknown "+path+".nothing", root) {
			return false
		}
		delete(at, "nothing")
		for name, was := range maps.Clone(at) {
			delete(at, name)
			if !yield("without "+path+"."+name, root) {
				return false
			}
			at[name] = []any{map[string]any{"wrong": true}}
			if !yield("instead of "+path+"."+name, root) {
				return false
			}
			at[name] = was
			if !mutate(root, path+"."+name, was, yield) {
				return false
			}
		}
	}
	return true
}
