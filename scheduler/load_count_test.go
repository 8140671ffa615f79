package scheduler

import (
	"slices"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestLoadingIsTold: timers are counted and other rows are not. Without a function to call, the scanner is unchanged.
func TestLoadingIsTold(t *testing.T) {
	var told []uint64
	rows := countingScanner{rows: 2*loadingStep + 1}
	from, seen := counted(rows, func(jobs uint64) { told = append(told, jobs) }), 0
	for _, kind := range []job.Kind{job.KindTimer, job.KindName} {
		err := from.Scan([]byte{byte(kind)}, nil, func(_, _ []byte) (bool, error) { seen++; return true, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []uint64{loadingStep, 2 * loadingStep}; !slices.Equal(told, want) || seen != 2*rows.rows {
		t.Errorf("told %d of %d rows, want %d", told, seen, want)
	}
	if counted(rows, nil) != core.Scanner(rows) {
		t.Error("something stands between though nobody asks")
	}
}
