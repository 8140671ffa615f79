package rungroup

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

// run returns a run of a job that was scheduled so many seconds ago.
func run(job, err string, ago int) *client.Run {
	at := time.Unix(1_764_576_000-int64(ago), 0).UTC()
	return &client.Run{Job: job, Error: err, ScheduledAt: client.At(at), RunID: fmt.Sprint(job, ago)}
}

// TestGroups: errors that differ only in numbers are one cause; the largest group comes first, with the error of its
// latest run.
func TestGroups(t *testing.T) {
	g := New(true)
	for i, r := range []*client.Run{run("a", "HTTP 503", 0), run("b", "refused at 10.0.0.1:80", 1), run("b", "refused at 10.0.0.2:81", 2), run("a", "no body", 3)} {
		g.Add(r)
		if i == 0 && g.Len() != 1 {
			t.Errorf("%d groups of one run", g.Len())
		}
	}
	list := g.Sorted(2)
	if len(list) != 2 || g.Len() != 3 {
		t.Fatalf("%d of %d groups, want 2 of 3", len(list), g.Len())
	}
	if b := list[0]; b.Job != "b" || b.Runs != 2 || b.Error != "refused at 10.0.0.1:80" || b.Cause != CauseID(run("b", "refused at 8.8.8.8:8", 9)) || b.RunID != "b1" || b.Cause == list[1].Cause ||
		b.LastAt.Sub(b.FirstAt.Time) != time.Second {
		t.Errorf("%+v", b)
	}
	jobs := New(false)
	jobs.Add(run("a", "HTTP 503", 0))
	jobs.Add(run("a", "no body", 1))
	if list := jobs.Sorted(0); len(list) != 1 || list[0].Runs != 2 || list[0].Error != "" {
		t.Errorf("by job: %+v", list)
	}
}

// TestGroupsAreBounded: the runs of groups beyond the bound are counted together.
func TestGroupsAreBounded(t *testing.T) {
	g := New(false)
	for i := range GroupsMax + 2 {
		g.Add(run(fmt.Sprint("job", i), "", i))
	}
	g.Add(run("job0", "", GroupsMax+2))
	if g.Len() != GroupsMax || g.Others != 2 || g.Sorted(1)[0].Runs != 2 {
		t.Errorf("%d groups, %d others", g.Len(), g.Others)
	}
}

// TestWhy: a reason that begins the error is not said twice.
func TestWhy(t *testing.T) {
	for want, r := range map[string]client.Run{
		"expired": {Reason: "expired"}, "HTTP 503": {Error: "HTTP 503"}, "expired HTTP 503": {Reason: "expired", Error: "HTTP 503"},
		"target not allowed: x": {Reason: "target not allowed", Error: "target not allowed: x"},
	} {
		if got := Why(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
