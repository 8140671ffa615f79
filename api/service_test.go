package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// TestLifeOfAJob goes through the verbs as an owner would, with the real engine behind them.
func TestLifeOfAJob(t *testing.T) {
	_, url := startService(t, apitest.StartEngine(t), Options{Node: Node{Version: "v1.2.3"}}, 0)
	c, ctx := apitest.NewClient(t, url, client.Options{}), t.Context()

	j := apitest.Yearly("daily-report")
	j.Payload, j.Headers, j.Labels = []byte(`{"any": "json"}`), map[string]string{"X-Team": "billing"}, map[string]string{"team": "billing"}
	j.Timezone, j.AttemptTimeout, j.CatchupWindow = "America/New_York", client.Duration(90*time.Second), new(client.Duration(0))
	put, created, err := c.Put(ctx, j)
	if err != nil || !created || put.Version != 1 || put.Status != "active" || put.NextRunAt.IsZero() {
		t.Fatalf("put: %+v, %t, %v", put, created, err)
	}
	got, err := c.Get(ctx, j.Name)
	if err != nil || string(got.Payload) != `{"any":"json"}` || *got.CatchupWindow != 0 || got.Retry.MaxAttempts != 3 || got.Tenant != "default" {
		t.Fatalf("get: %+v, %v", got, err)
	}
	if _, _, err := c.PutIfVersion(ctx, j, 0); !errors.Is(err, client.CodeAlreadyExists) {
		t.Errorf("put of a new job: %v", err)
	}
	// What was got can be put again, and changes nothing but the version.
	again, created, err := c.PutIfVersion(ctx, got.Job, got.Version)
	if err != nil || created || again.Version != 2 || again.ID != got.ID {
		t.Fatalf("put again: %+v, %t, %v", again, created, err)
	}
	if _, _, err := c.PutIfVersion(ctx, j, 1); !client.IsConflict(err) {
		t.Errorf("put of an old version: %v", err)
	}
	if paused, err := c.Pause(ctx, j.Name, "holiday"); err != nil || paused.Status != "paused" || paused.StatusReason != "holiday" {
		t.Errorf("pause: %+v, %v", paused, err)
	}
	if resumed, err := c.Resume(ctx, j.Name, ""); err != nil || resumed.Status != "active" {
		t.Errorf("resume: %+v, %v", resumed, err)
	}
	testRuns(t, c, j.Name)
	if _, err := c.Delete(ctx, j.Name); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(ctx, j.Name); !client.IsNotFound(err) {
		t.Errorf("get of a deleted job: %v", err)
	}
	if _, err := c.Delete(ctx, j.Name); !client.IsNotFound(err) {
		t.Errorf("second delete: %v", err)
	}
}

func testRuns(t *testing.T, c *client.Client, name string) {
	ctx := t.Context()
	request := client.TriggerRequest{Name: name, Payload: []byte(`1`), IdempotencyKey: "k1"}
	run, err := c.Trigger(ctx, request)
	if err != nil || !run.Manual || run.Job != name {
		t.Fatalf("trigger: %+v, %v", run, err)
	}
	same, err := c.Trigger(ctx, request)
	if err != nil || same.RunID != run.RunID {
		t.Errorf("trigger with the same key: %+v, %v", same, err)
	}
	n, err := c.Backfill(ctx, client.BackfillRequest{Name: name, From: client.At(time.Now().AddDate(-3, 0, 0)), To: client.At(time.Now().Add(-time.Minute))})
	if err != nil || n != 3 {
		t.Errorf("backfill: %d, %v", n, err)
	}
	var ids []string
	for r, err := range c.Runs(ctx, client.RunListRequest{Job: name, Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.RunID)
	}
	if len(ids) != 4 || ids[0] != run.RunID {
		t.Errorf("runs: %v, want 4 with %s first", ids, run.RunID)
	}
	if r, err := c.Run(ctx, run.RunID); err != nil || r.RunID != run.RunID {
		t.Errorf("run: %+v, %v", r, err)
	}
	if _, err := c.Run(ctx, strings.Replace(run.RunID, "-1", "-2", 1)); !client.IsNotFound(err) {
		t.Errorf("run that is not: %v", err)
	}
}

// TestTenantsAreApart looks at one tenant's jobs as another.
func TestTenantsAreApart(t *testing.T) {
	_, url := startService(t, apitest.StartEngine(t), Options{}, 0)
	ours, theirs := apitest.NewClient(t, url, client.Options{Tenant: "ours"}), apitest.NewClient(t, url, client.Options{Tenant: "theirs"})
	for i := range 3 {
		if _, _, err := ours.Put(t.Context(), apitest.Yearly(fmt.Sprint("job-", i))); err != nil {
			t.Fatal(err)
		}
	}
	run, err := ours.Trigger(t.Context(), client.TriggerRequest{Name: "job-0"})
	if err != nil {
		t.Fatal(err)
	}
	page, err := ours.List(t.Context(), client.ListRequest{Limit: 2})
	if err != nil || len(page.Jobs) != 2 || page.NextCursor == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	if _, err := theirs.Get(t.Context(), "job-0"); !client.IsNotFound(err) {
		t.Errorf("get: %v", err)
	}
	if _, err := theirs.Run(t.Context(), run.RunID); !client.IsNotFound(err) {
		t.Errorf("run: %v", err)
	}
	if _, err := theirs.List(t.Context(), client.ListRequest{Cursor: page.NextCursor}); !errors.Is(err, client.CodeInvalidField) {
		t.Errorf("list with the other's cursor: %v", err)
	}
	if all, err := theirs.List(t.Context(), client.ListRequest{}); err != nil || len(all.Jobs) != 0 {
		t.Errorf("list: %+v, %v", all, err)
	}
}

// TestBulk puts more jobs than fit one message, with bad ones among them.
func TestBulk(t *testing.T) {
	const jobs = 5000
	_, url := startService(t, apitest.StartEngine(t), Options{}, 256<<10)
	c := apitest.NewClient(t, url, client.Options{})
	each := func(yield func(client.Job) bool) {
		for i := range jobs {
			j := apitest.Yearly(fmt.Sprintf("bulk-%05d", i))
			switch {
			case i%1000 == 7:
				j.Schedule = "61 * * * *"
			case i == 42:
				j.PayloadBase64 = make([]byte, 250<<10)
			}
			if !yield(j) {
				return
			}
		}
	}
	var names []string
	totals, err := c.PutAll(t.Context(), each, func(r client.PutResult) {
		names = append(names, r.Name)
		switch bad := strings.HasSuffix(r.Name, "007"); {
		case r.Name == "bulk-00042":
			if !errors.Is(r.Error, client.CodeTooLarge) {
				t.Errorf("%s: %v", r.Name, r.Error)
			}
		case bad && (r.Error == nil || r.Error.Code != client.CodeInvalidSchedule || r.Error.Field != "schedule"):
			t.Errorf("%s: %v", r.Name, r.Error)
		case !bad && (r.Error != nil || r.ID == "" || r.Version != 1 || r.NextRunAt.IsZero()):
			t.Errorf("%s: %+v", r.Name, r)
		}
	})
	if err != nil || totals.Accepted != jobs-6 || totals.Rejected != 6 || len(names) != jobs || !slices.IsSorted(names) {
		t.Fatalf("%+v, %v; %d results, in order: %t", totals, err, len(names), slices.IsSorted(names))
	}
	n := 0
	for _, err := range c.Jobs(t.Context(), client.ListRequest{Prefix: "bulk-", Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != jobs-6 {
		t.Errorf("%d jobs are listed, want %d", n, jobs-6)
	}
}

// TestPagesFitMessages lists jobs of which few fit one message.
func TestPagesFitMessages(t *testing.T) {
	_, url := startService(t, apitest.StartEngine(t), Options{}, 64<<10)
	c := apitest.NewClient(t, url, client.Options{})
	for i := range 12 {
		j := apitest.Yearly(fmt.Sprintf("job-%02d", i))
		j.Payload = []byte(`"` + strings.Repeat("x", 20<<10) + `"`)
		if _, _, err := c.Put(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	page, err := c.List(t.Context(), client.ListRequest{Limit: 12})
	if err != nil || len(page.Jobs) == 0 || len(page.Jobs) == 12 || page.NextCursor == "" {
		t.Fatalf("%d jobs, cursor %q, %v", len(page.Jobs), page.NextCursor, err)
	}
	var names []string
	for j, err := range c.Jobs(t.Context(), client.ListRequest{Limit: 12}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, j.Name)
	}
	if len(names) != 12 || !slices.IsSorted(names) {
		t.Errorf("listed %v", names)
	}
}

// TestReplyTooLarge puts a job that fits into a message while its echo does not: the job is shown without its
// payload, and cannot be put again in that form.
func TestReplyTooLarge(t *testing.T) {
	_, url := startService(t, apitest.StartEngine(t), Options{}, 32<<10)
	nc := apitest.Connect(t, url)
	j := `{"name":"big","schedule":"@yearly","target":{"kind":"nats","subject":"a"},"payload":"` + strings.Repeat("x", 32400) + `"}`
	msg, err := nc.Request("carillon.v1.default.jobs.put", []byte(j), 5*time.Second)
	if err != nil || msg.Header.Get("Nats-Service-Error-Code") != "" {
		t.Fatalf("%+v, %v", msg, err)
	}
	if text := string(msg.Data); !strings.Contains(text, `"payload_omitted":true`) || strings.Contains(text, "xxx") {
		t.Errorf("reply %.300s", text)
	}
}

func TestNobodyAnswers(t *testing.T) {
	c := apitest.NewClient(t, apitest.StartNATS(t, 0), client.Options{NoRetry: true})
	_, err := c.Status(t.Context())
	if !client.IsUnavailable(err) || !errors.Is(err, client.CodeUnavailable) {
		t.Errorf("no server: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Status(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
