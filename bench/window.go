package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// window is the time in which fires are measured, and the jobs that must fire in it. Jobs with @every tick before and
// after it as well, and those ticks are checked but not measured.
type window struct {
	from, to time.Time            // fires scheduled in [from, to) are measured
	due      map[string]time.Time // due time of each one-shot, by name
	every    int                  // number of jobs with @every, named by everyName
}

// newWindow returns a window without one-shots. Its start is a whole millisecond, as scheduled times are.
func newWindow(from time.Time, length time.Duration, every int) *window {
	from = from.Truncate(time.Millisecond)
	return &window{from: from, to: from.Add(length), due: make(map[string]time.Time), every: every}
}

// checkStart returns an error if the window began before the registration was complete.
func (w *window) checkStart() error {
	if late := time.Since(w.from); late > 0 {
		return fmt.Errorf("registering took %s longer than its head start; the machine is too slow for this size", late)
	}
	return nil
}

// everyPrefix is the prefix of the names of jobs with @every.
const everyPrefix = "every-"

// everyName returns the name of the i-th job with @every.
func everyName(i int) string { return everyPrefix + strconv.Itoa(i) }

// cut ends the window early, because the workload was interrupted. What was due after the cut is not missing then.
func (w *window) cut(at time.Time) {
	if at.Before(w.to) {
		w.to = at
	}
	if w.to.Before(w.from) {
		w.to = w.from
	}
}

// tally is the result of a window. Only lateness is a figure of merit; the counts of early, lost,
// doubled and unknown runs must be 0, otherwise the figures are worthless.
type tally struct {
	all, shots samples // lateness of the measured arrivals; of the one-shots among them
	bare       samples // lateness of what the bare program published
	// early counts any run, also one that is not measured.
	early int
	// missing counts ticks and one-shots that were due in the window and never came.
	missing int
	doubled int // repeated arrivals of a run
	strange int // arrivals of an unknown job, or at a time that its schedule does not have
}

// judge compares the arrivals with what was due. It also checks runs scheduled outside the window, but does not
// measure their lateness. It needs no order of the arrivals. Run ids tell doubled arrivals: at-least-once delivery
// allows them after a failure, and no workload here has one.
func (w *window) judge(receipts []receipt) tally {
	var t tally
	runs := make(map[string]bool, len(receipts))
	ticks := make(map[string][]time.Time)
	for _, one := range receipts {
		late := one.arrived.Sub(one.scheduled)
		if strings.HasPrefix(one.job, barePrefix) {
			t.bare = append(t.bare, late)
			continue
		}
		if late < 0 {
			t.early++
		}
		// A second arrival has no lateness of its own; it is a fault.
		if runs[one.runID] {
			t.doubled++
			continue
		}
		runs[one.runID] = true
		isTick := strings.HasPrefix(one.job, everyPrefix)
		if due, ok := w.due[one.job]; !isTick && (!ok || !due.Equal(one.scheduled)) {
			t.strange++
			continue
		}
		if one.scheduled.Before(w.from) || !one.scheduled.Before(w.to) {
			continue
		}
		t.all = append(t.all, late)
		if isTick {
			ticks[one.job] = append(ticks[one.job], one.scheduled)
		} else {
			t.shots = append(t.shots, late)
		}
	}
	t.missing = w.shotsDue() - len(t.shots)
	for i := range w.every {
		missing, strange := w.missingTicks(ticks[everyName(i)])
		t.missing += missing
		t.strange += strange
	}
	return t
}

// shotsDue returns the number of one-shots that are due in the window.
func (w *window) shotsDue() int {
	due := 0
	for _, at := range w.due {
		if !at.Before(w.from) && at.Before(w.to) {
			due++
		}
	}
	return due
}

// missingTicks compares the arrivals of a job with @every with the ticks that it must have, which it computes from the
// first arrival. An @every counts from its registration, whose exact instant the harness does not know.
func (w *window) missingTicks(arrived []time.Time) (missing, strange int) {
	if len(arrived) == 0 {
		return int(w.to.Sub(w.from) / interval), 0
	}
	first := slices.MinFunc(arrived, time.Time.Compare)
	for _, at := range arrived {
		if at.Sub(first)%interval != 0 {
			strange++
		}
	}
	before := int(first.Sub(w.from) / interval)
	// The end of the window is excluded, so a tick that falls on it is not due.
	after := int((w.to.Sub(first) - time.Nanosecond) / interval)
	return before + 1 + after - (len(arrived) - strange), strange
}

// tell adds the tally to the result.
func (t *tally) tell(r *result) {
	r.count("received", "received in the window", len(t.all))
	r.spread("lateness", "lateness", t.all)
	if len(t.shots) > 0 && len(t.shots) < len(t.all) {
		r.spread("one_shots", "of one-shots", t.shots)
	}
	t.tellBare(r)
	t.tellBroken(r)
}

// tellBroken adds what breaks a promise: early, lost, doubled and unknown runs.
func (t *tally) tellBroken(r *result) {
	for _, wrong := range []struct {
		key, text string
		n         int
	}{
		{"early", "early", t.early},
		{"missing", "missing", t.missing},
		{"doubled", "doubled", t.doubled},
		{"strange", "of an unknown job or time", t.strange},
	} {
		r.none(wrong.key, wrong.text, wrong.n)
	}
}
