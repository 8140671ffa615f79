package embedded_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/embedded"
	"github.com/carillon-io/carillon/server"
)

// fullJob is a job with every member set that goes with a web hook.
func fullJob() embedded.Job {
	window, runs, jitter := client.Duration(2*time.Hour), uint32(3), 0.25
	return embedded.Job{
		Name: "full/one", Schedules: []string{"0 9-17 * * 1-5", "0 10-12 * * 6"}, Exclude: []string{"2026-12-24/2026-12-26", "@calendar off"},
		Timezone: "Europe/Berlin", StartsAt: client.At(noon), EndsAt: client.At(noon.AddDate(90, 0, 0)), MaxRuns: 1000,
		Jitter:  client.Duration(10 * time.Second),
		Target:  client.Target{Kind: "http", URL: "https://hooks.example.com/x?y=1", Method: "PUT"},
		Payload: json.RawMessage(`{"b":[1,2.50,"ü"],"a":null}`), Headers: map[string]string{"X-Team": "billing", "X-A": "b"},
		Completion: "reported", AttemptTimeout: client.Duration(time.Minute),
		Retry: client.Retry{
			MaxAttempts: 7, InitialInterval: client.Duration(2 * time.Second), Multiplier: 1.5, MaxInterval: client.Duration(time.Hour),
			MaxAge: client.Duration(24 * time.Hour), Jitter: &jitter, ClientErrors: true,
		},
		PauseOnFailure: 5, OverlapPolicy: "allow", MaxConcurrent: 4, MissedRunPolicy: "backfill", CatchupWindow: &window, MaxCatchupRuns: &runs,
		Paused: true, Labels: map[string]string{"team": "billing"}, Description: "everything",
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestServerAndProgramShareADirectory: each finds what the other has left, to the last member of a job.
func TestServerAndProgramShareADirectory(t *testing.T) {
	dir := t.TempDir()
	serve := func() (*server.Server, *client.Client) {
		t.Helper()
		s, err := server.Start(t.Context(), server.Options{
			Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.Connect(s.Ready().NATS, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s, c
	}
	stop := func(s *server.Server, c *client.Client) {
		t.Helper()
		c.Close()
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	serving, c := serve()
	if _, _, err := c.PutCalendar(t.Context(), client.CalendarRequest{Name: "off", Exclude: []string{"2027-01-01"}}); err != nil {
		t.Fatal(err)
	}
	fromServer, _, err := c.Put(t.Context(), fullJob())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.Open(dir, embedded.Options{}); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("beside the server: %v", err)
	}
	stop(serving, c)

	s := open(t, dir, embedded.Options{Handlers: handlers{"h": succeed}})
	got, err := s.Get(t.Context(), "full/one")
	if err != nil || text(t, got) != text(t, fromServer) {
		t.Errorf("the server's job, in the program: %v\n%s\n%s", err, text(t, got), text(t, fromServer))
	}
	j := fullJob()
	j.Name = "full/two"
	fromProgram := put(t, s, j)
	put(t, s, yearly("mine", "h"))
	run := trigger(t, s, "mine")
	runWith(t, s, run.RunID, "succeeded")
	if _, err := server.Start(t.Context(), server.Options{Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0"}); !errors.Is(err, server.ErrInUse) {
		t.Errorf("beside the program: %v", err)
	}
	mustClose(t, s)

	serving, c = serve()
	defer stop(serving, c)
	got, err = c.Get(t.Context(), "full/two")
	if err != nil || text(t, got) != text(t, fromProgram) {
		t.Errorf("the program's job, in the server: %v\n%s\n%s", err, text(t, got), text(t, fromProgram))
	}
	if run, err = c.Run(t.Context(), run.RunID); err != nil || run.Status != "succeeded" {
		t.Errorf("the program's run, in the server: %+v, %v", run, err)
	}
}

// TestAllThatAClientDoes goes through the door: bulk, pages, conflicts, refusals, the audit log, the status.
func TestAllThatAClientDoes(t *testing.T) {
	s := open(t, t.TempDir(), embedded.Options{By: "tests", Handlers: handlers{"h": succeed}})
	ctx := t.Context()
	var jobs []embedded.Job
	for i := range 250 {
		jobs = append(jobs, yearly(fmt.Sprintf("bulk/%03d", i), "h"))
	}
	totals, err := s.PutAll(ctx, slices.Values(jobs), nil)
	if err != nil || totals.Accepted != len(jobs) {
		t.Fatalf("PutAll: %+v, %v", totals, err)
	}
	seen := 0
	for info, err := range s.Jobs(ctx, client.ListRequest{Prefix: "bulk/", Limit: 100}) {
		if err != nil || info.Name != jobs[seen].Name {
			t.Fatalf("job %d is %q, %v", seen, info.Name, err)
		}
		seen++
	}
	if seen != len(jobs) {
		t.Errorf("%d jobs are listed", seen)
	}
	if _, _, err := s.PutIfVersion(ctx, jobs[0], 0); !client.IsConflict(err) {
		t.Errorf("a job that exists: %v", err)
	}
	if _, err := s.Get(ctx, "nobody"); !client.IsNotFound(err) {
		t.Errorf("an unknown job: %v", err)
	}
	bad := yearly("bad", "h")
	bad.Schedule = "61 * * * *"
	if _, _, err := s.Put(ctx, bad); !errors.Is(err, client.CodeInvalidSchedule) {
		t.Errorf("a bad schedule: %v", err)
	}
	if _, err := s.Pause(ctx, "bulk/000", "lunch"); err != nil {
		t.Error(err)
	}
	if _, err := s.Resume(ctx, "bulk/000", ""); err != nil {
		t.Error(err)
	}
	if _, err := s.Delete(ctx, "bulk/000"); err != nil {
		t.Error(err)
	}
	page, err := s.ListAudit(ctx, client.AuditRequest{Name: "bulk/000"})
	if err != nil || len(page.Entries) != 4 || page.Entries[0].By != "tests" || page.Entries[0].From != "local" {
		t.Errorf("the audit log has %+v, %v", page, err)
	}
	if st, err := s.Status(ctx); err != nil || st.Role != "leader" || st.Jobs != len(jobs)-1 {
		t.Errorf("the status is %+v, %v", st, err)
	}
	if _, err := s.Handover(ctx, 0, ""); err == nil {
		t.Error("a hand-over inside a program")
	}
}
