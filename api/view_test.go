package api

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// TestSingleAttempt: a run that succeeded at once lists the attempt that it had; one that has none yet lists none.
func TestSingleAttempt(t *testing.T) {
	run := job.Run{Status: job.StatusSucceeded, Attempt: 1, Fence: 7, LaunchedAt: 5000, Duration: time.Second}
	list := attemptsOf(&scheduler.RunView{Run: run})
	if len(list) != 1 || list[0].Number != 1 || list[0].Fence != 7 || list[0].LaunchedAt != timeOf(5000) || list[0].DurationMS != 1000 || list[0].Error != "" {
		t.Errorf("a run that succeeded at once lists %+v", list)
	}
	for _, status := range []job.Status{job.StatusPending, job.StatusRunning, job.StatusSkipped, job.StatusCancelled} {
		if run.Status = status; len(attemptsOf(&scheduler.RunView{Run: run})) != 0 {
			t.Errorf("a run that is %s lists an attempt", status)
		}
	}
}
