package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/embedded"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func newTest(t *testing.T, opts embedded.Options) *embedded.Test {
	t.Helper()
	test, err := embedded.NewTest(noon, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = test.Close() })
	return test
}

// history lists the runs of a job, oldest first.
func history(t *testing.T, test *embedded.Test, job string) string {
	t.Helper()
	var lines []string
	for run, err := range test.Runs(t.Context(), client.RunListRequest{Job: job}) {
		if err != nil {
			t.Fatal(err)
		}
		line := run.ScheduledAt.Format("15:04:05") + " " + run.Status
		if run.Reason != "" {
			line += " " + run.Reason
		}
		if run.Error != "" {
			line += ": " + run.Error
		}
		lines = append([]string{line}, lines...)
	}
	return strings.Join(lines, "\n")
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimSpace(strings.ReplaceAll(want, "\t", "")); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestNothingRunsByItself: a job is accepted at once, and its run waits for the clock.
func TestNothingRunsByItself(t *testing.T) {
	runs := 0
	test := newTest(t, embedded.Options{Handlers: handlers{"h": func(context.Context, embedded.Run) error { runs++; return nil }}})
	info := put(t, test, yearly("a", "h"))
	if !info.CreatedAt.Equal(noon) {
		t.Errorf("created at %s", info.CreatedAt)
	}
	trigger(t, test, "a")
	if runs != 0 {
		t.Error("a run was launched without Advance")
	}
	test.Advance(0)
	if runs != 1 || !test.Now().Equal(noon) {
		t.Errorf("%d runs at %s", runs, test.Now())
	}
	next, err := test.Next(t.Context(), client.NextRequest{Schedule: "0 * * * *", Count: 1})
	if err != nil || len(next.Times) != 1 || !next.Times[0].Equal(noon.Add(time.Hour)) {
		t.Errorf("the next hour is %v, %v", next.Times, err)
	}
}

// TestShortMoves: the clock keeps what is less than a millisecond.
func TestShortMoves(t *testing.T) {
	runs := 0
	test := newTest(t, embedded.Options{Handlers: handlers{"h": func(context.Context, embedded.Run) error { runs++; return nil }}})
	put(t, test, embedded.Job{Name: "a", Schedule: "@every 1s", Target: embedded.Call("h")})
	for range 3 {
		test.Advance(333_333_333)
	}
	if want := noon.Add(time.Second - 1); runs != 0 || !test.Now().Equal(want) {
		t.Errorf("%d runs at %s, want %s", runs, test.Now(), want)
	}
	if test.AdvanceTo(noon.Add(time.Second + 1)); runs != 1 {
		t.Errorf("%d runs at %s", runs, test.Now())
	}
}

// TestRunsInTheirOrder: of several jobs, each at its time.
func TestRunsInTheirOrder(t *testing.T) {
	var got []string
	test := newTest(t, embedded.Options{})
	err := test.Handle("note", func(_ context.Context, run embedded.Run) error {
		got = append(got, fmt.Sprintf("%s %s", test.Now().Format("15:04:05.000"), run.Job))
		if !run.ScheduledAt.Equal(test.Now()) {
			t.Errorf("%s is at %s, and it is %s", run.Job, run.ScheduledAt, test.Now())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, schedule := range map[string]string{"a": "@every 20s", "b": "@every 30s", "c": "@at 2026-05-01T12:00:45.001Z"} {
		put(t, test, embedded.Job{Name: name, Schedule: schedule, Target: embedded.Call("note")})
	}
	test.Advance(time.Minute - time.Millisecond)
	expect(t, strings.Join(got, "\n"), `
		12:00:20.000 a
		12:00:30.000 b
		12:00:40.000 a
		12:00:45.001 c`)
}

// TestSpend: a run that takes longer than the distance of its ticks meets the next, and one that takes too long
// fails.
func TestSpend(t *testing.T) {
	test := newTest(t, embedded.Options{})
	takes := 90 * time.Second
	if err := test.Handle("h", func(context.Context, embedded.Run) error { test.Spend(takes); return nil }); err != nil {
		t.Fatal(err)
	}
	put(t, test, embedded.Job{
		Name: "a", Schedule: "* * * * *", Target: embedded.Call("h"), AttemptTimeout: client.Duration(2 * time.Minute), Retry: soon(1),
	})
	test.Advance(4 * time.Minute)
	expect(t, history(t, test, "a"), `
		12:01:00 succeeded
		12:02:00 skipped overlap
		12:03:00 running
		12:04:00 skipped overlap`)
	takes = 10 * time.Minute
	test.Advance(3 * time.Minute)
	if got := history(t, test, "a"); !strings.Contains(got, "12:05:00 dead: no answer within 2m0s") {
		t.Errorf("the history is\n%s", got)
	}
}

// TestCancelInTheMiddle of a run that takes its time.
func TestCancelInTheMiddle(t *testing.T) {
	test := newTest(t, embedded.Options{})
	if err := test.Handle("h", func(context.Context, embedded.Run) error { test.Spend(20 * time.Second); return nil }); err != nil {
		t.Fatal(err)
	}
	put(t, test, yearly("a", "h"))
	run := trigger(t, test, "a")
	test.Advance(10 * time.Second)
	if _, err := test.CancelRun(t.Context(), run.RunID); err != nil {
		t.Fatal(err)
	}
	test.Advance(0)
	if run, err := test.Run(t.Context(), run.RunID); err != nil || run.Status != "cancelled" {
		t.Errorf("the run is %+v, %v", run, err)
	}
}

// TestCrash: what was missed is decided by the policy, and what was in hand is launched again.
func TestCrash(t *testing.T) {
	var fences []uint64
	test := newTest(t, embedded.Options{Handlers: handlers{"quick": succeed}})
	err := test.Handle("slow", func(_ context.Context, run embedded.Run) error {
		fences = append(fences, run.Fence)
		test.Spend(20 * time.Second)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, policy := range map[string]string{"skip": "skip", "once": "fire_once", "all": "backfill"} {
		put(t, test, embedded.Job{Name: name, Schedule: "*/10 * * * *", Target: embedded.Call("quick"), MissedRunPolicy: policy})
	}
	put(t, test, yearly("slow", "slow"))
	run := trigger(t, test, "slow")
	test.Advance(5 * time.Second)
	test.Crash(35 * time.Minute)
	test.Advance(5 * time.Minute)
	if !test.Now().Equal(noon.Add(40*time.Minute + 5*time.Second)) {
		t.Errorf("it is %s", test.Now())
	}
	expect(t, history(t, test, "skip"), "12:10:00 skipped missed\n12:40:00 succeeded")
	expect(t, history(t, test, "once"), "12:10:00 skipped missed\n12:30:00 succeeded\n12:40:00 succeeded")
	expect(t, history(t, test, "all"), "12:10:00 succeeded\n12:20:00 succeeded\n12:30:00 succeeded\n12:40:00 succeeded")
	if run, err := test.Run(t.Context(), run.RunID); err != nil || run.Status != "succeeded" || len(fences) != 2 || fences[1] <= fences[0] {
		t.Errorf("the run in hand is %+v, %v, with the fences %v", run, err, fences)
	}
}

// TestHandlersUseTheScheduler, but do not move its clock.
func TestHandlersUseTheScheduler(t *testing.T) {
	test := newTest(t, embedded.Options{Handlers: handlers{"child": succeed}})
	err := test.Handle("parent", func(ctx context.Context, _ embedded.Run) error {
		at := client.At(test.Now().Add(time.Hour))
		_, _, err := test.Put(ctx, embedded.Job{Name: "child", Schedule: "@at " + at.String(), Target: embedded.Call("child")})
		return err
	})
	if err == nil {
		err = test.Handle("meddler", func(context.Context, embedded.Run) error { test.Advance(time.Hour); return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	put(t, test, yearly("parent", "parent"))
	j := yearly("meddler", "meddler")
	j.Retry = soon(1)
	put(t, test, j)
	trigger(t, test, "parent")
	trigger(t, test, "meddler")
	test.Advance(2 * time.Hour)
	expect(t, history(t, test, "child"), "13:00:00 succeeded")
	expect(t, history(t, test, "meddler"),
		`12:00:00 dead: handler "meddler" panicked: embedded: Advance was called while another call moves the clock, by a handler or by another goroutine`)
}

// TestReported: the handler takes the work over, and a worker reports it later, or too late.
func TestReported(t *testing.T) {
	var last embedded.Run
	test := newTest(t, embedded.Options{Handlers: handlers{"hand-over": func(_ context.Context, run embedded.Run) error { last = run; return nil }}})
	put(t, test, embedded.Job{
		Name: "a", Schedule: "@hourly", Target: embedded.Call("hand-over"),
		Completion: "reported", AttemptTimeout: client.Duration(10 * time.Minute), Retry: soon(1),
	})
	test.AdvanceTo(noon.Add(65 * time.Minute))
	run, err := test.Report(t.Context(), client.ReportRequest{RunID: last.ID, Fence: last.Fence, Status: client.OutcomeSucceeded, Result: "42 rows"})
	if err != nil || run.Status != "succeeded" || run.Result != "42 rows" {
		t.Errorf("reported: %+v, %v", run, err)
	}
	test.AdvanceTo(noon.Add(135 * time.Minute))
	if got := history(t, test, "a"); !strings.HasPrefix(got, "13:00:00 succeeded\n14:00:00 dead") {
		t.Errorf("the history is\n%s", got)
	}
}

// TestChores: a calendar that changes moves the jobs that follow it, a job that fails too often is paused, and
// one that is done goes after its time.
func TestChores(t *testing.T) {
	test := newTest(t, embedded.Options{Handlers: handlers{
		"ok": succeed, "bad": func(context.Context, embedded.Run) error { return embedded.Refuse(errors.New("never")) },
	}})
	calendar := func(days ...string) {
		t.Helper()
		if _, _, err := test.PutCalendar(t.Context(), client.CalendarRequest{Name: "off", Exclude: days}); err != nil {
			t.Fatal(err)
		}
	}
	calendar("2026-12-24")
	put(t, test, embedded.Job{Name: "daily", Schedule: "0 8 * * *", Exclude: []string{"@calendar off"}, Target: embedded.Call("ok")})
	calendar("2026-05-02")
	put(t, test, embedded.Job{Name: "bad", Schedule: "@hourly", Target: embedded.Call("bad"), PauseOnFailure: 2})
	put(t, test, embedded.Job{Name: "once", Schedule: "@at 2026-05-01T13:00:00Z", Target: embedded.Call("ok")})
	test.Advance(48 * time.Hour)
	expect(t, history(t, test, "daily"), "08:00:00 succeeded")
	if info, err := test.Get(t.Context(), "bad"); err != nil || info.Status != "paused" || info.StatusReason != "2 runs in a row failed; the last: never" {
		t.Errorf("the job that fails is %+v, %v", info, err)
	}
	if _, err := test.Get(t.Context(), "once"); !client.IsNotFound(err) {
		t.Errorf("the job that is done is still there: %v", err)
	}
}

// TestSameTwice: the same calls give the same runs, to the last id and fence.
func TestSameTwice(t *testing.T) {
	story := func() (told []string) {
		test := newTest(t, embedded.Options{})
		defer func() { _ = test.Close() }()
		err := test.Handle("h", func(_ context.Context, run embedded.Run) error {
			told = append(told, fmt.Sprint(test.Now(), run))
			if run.Fence%3 == 0 {
				return errors.New("no")
			}
			test.Spend(time.Duration(run.Fence%5) * time.Second)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			put(t, test, embedded.Job{
				Name: fmt.Sprint("j", i), Schedule: "@every 1m", Jitter: client.Duration(30 * time.Second), Target: embedded.Call("h"),
			})
		}
		test.Advance(10 * time.Minute)
		test.Crash(time.Hour)
		test.Advance(10 * time.Minute)
		return told
	}
	one, two := story(), story()
	if len(one) < 400 || len(one) != len(two) {
		t.Fatalf("%d and %d attempts", len(one), len(two))
	}
	for i := range one {
		if one[i] != two[i] {
			t.Fatalf("attempt %d:\n%s\n%s", i, one[i], two[i])
		}
	}
}
