package core

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestJobStates checks, for all bits of a row, that the counted state is the one that the API shows.
func TestJobStates(t *testing.T) {
	for bits := range 1 << 5 {
		flags := job.TimerFlags(bits)
		if got, want := stateOf(flags).String(), flags.JobStatus(); got != want {
			t.Errorf("bits %b: state %s, want %s", bits, got, want)
		}
	}
}
