package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// TestChangedMembers: an update names changed, added and removed members.
func TestChangedMembers(t *testing.T) {
	old := client.Job{Name: "a", Schedule: "@daily", Labels: map[string]string{"x": "1", "y": "2"}, MaxRuns: 5}
	for _, c := range []struct {
		name   string
		change func(j *client.Job)
		want   []string
	}{
		{"nothing", func(*client.Job) {}, nil},
		{"values", func(j *client.Job) { j.MaxRuns, j.Retry.MaxAttempts = 6, 7 }, []string{"max_runs", "retry"}},
		{"another schedule", func(j *client.Job) { j.Schedule, j.Schedules = "", []string{"@daily", "@hourly"} }, []string{"schedules", "schedule"}},
		{"labels", func(j *client.Job) { j.Labels = map[string]string{"y": "2", "x": "2"} }, []string{"labels"}},
	} {
		now := old
		c.change(&now)
		if got := changedMembers(&old, &now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := changedMembers(nil, &old); got != nil {
		t.Errorf("a creation changes %v", got)
	}
}

// TestWhoAsks: the name is valid for a server whatever the environment contains.
func TestWhoAsks(t *testing.T) {
	for _, user := range []string{"alice", "", "a\r\nb", "\xff", strings.Repeat("ü", 200)} {
		t.Setenv("USER", user)
		by := whoAsks()
		if err := (job.Actor{By: by}).Validate(); err != nil || by == "" {
			t.Errorf("user %q is %q: %v", user, by, err)
		}
		if user == "alice" && !strings.HasPrefix(by, "alice@") {
			t.Errorf("alice is %q", by)
		}
	}
}

func TestDeletedRuns(t *testing.T) {
	for want, runs := range map[string]client.DeletedRuns{
		"": {}, ", 1 run cancelled": {Cancelled: 1}, ", 2 runs still with the target": {Running: 2},
		", 3 runs cancelled, 1 run still with the target": {Cancelled: 3, Running: 1},
	} {
		if got := showDeletedRuns(runs); got != want {
			t.Errorf("%+v: %q, want %q", runs, got, want)
		}
	}
}
