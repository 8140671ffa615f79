package scheduler

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// TestWarnNamesTheJob: a line about a job says which it is, as long as that is known.
func TestWarnNamesTheJob(t *testing.T) {
	s := &story{sim: newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})}
	d := job.Defaults()
	d.Tenant, d.Name, d.Schedule, d.Payload = tenantOf(storyJob(1)), storyJob(1), "@every 1h", []byte("hunter2")
	d.Target = job.Target{Kind: job.TargetNATS, Subject: "x"}
	s.putAny(&d)
	id := s.engine.core.IDOf(s.hash(storyJob(1)))
	var text bytes.Buffer
	s.engine.opts.Logger = slog.New(slog.NewTextHandler(&text, nil))
	s.engine.warn("it was not paused", id, errors.New("disk away"))
	for _, part := range []string{"tenant=tenant-1", "job=tenant-1/job-1", "job_id=" + id.String(), "epoch=1", `error="disk away"`} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("no %s in %s", part, &text)
		}
	}
	if strings.Contains(text.String(), "hunter2") {
		t.Errorf("the payload is in %s", &text)
	}
	text.Reset()
	s.engine.warn("calendars", 0, errors.New("away"))
	if strings.Contains(text.String(), "job") {
		t.Errorf("a line about no job names one: %s", &text)
	}
}
