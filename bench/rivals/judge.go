package main

import "time"

// receipt is one arrival.
type receipt struct {
	number  int
	arrived time.Time
}

// tally is what the arrivals of some jobs came to.
type tally struct {
	lateness samples // of each job that arrived, at its first arrival
	last     time.Time
	due      int // jobs
	early    int
	missing  int
	doubled  int // arrivals of a job after its first
	strange  int // arrivals of a job that was never registered
}

// judge compares what arrived with what was due until some time; the rest was cut off by an interrupt.
func judge(jobs []job, receipts []receipt, until time.Time) tally {
	var t tally
	due := make(map[int]time.Time, len(jobs))
	for _, j := range jobs {
		due[j.number] = j.due
		if !j.due.After(until) {
			t.due++
		}
	}
	first := make(map[int]time.Time, len(receipts))
	for _, one := range receipts {
		if _, asked := due[one.number]; !asked {
			t.strange++
			continue
		}
		before, again := first[one.number]
		if again {
			t.doubled++
		}
		if !again || one.arrived.Before(before) {
			first[one.number] = one.arrived
		}
	}
	for number, arrived := range first {
		late := arrived.Sub(due[number])
		if late < 0 {
			t.early++
		}
		if due[number].After(until) {
			continue
		}
		t.lateness = append(t.lateness, late)
		if arrived.After(t.last) {
			t.last = arrived
		}
	}
	t.missing = t.due - len(t.lateness)
	return t
}

// tell reports the tally. What is wrong breaks the run if these are our own promises.
func (t *tally) tell(r *result, ours bool) {
	r.figure("received", "received", float64(len(t.lateness)), "")
	r.spread("lateness", "lateness", t.lateness)
	for _, wrong := range []struct {
		key, text string
		n         int
	}{
		{"early", "early", t.early},
		{"missing", "missing", t.missing},
		{"doubled", "doubled", t.doubled},
		{"strange", "never asked for", t.strange},
	} {
		r.figure(wrong.key, wrong.text, float64(wrong.n), "")
		switch {
		case wrong.n == 0:
		case ours:
			r.breaks("%d of %d are %s", wrong.n, t.due, wrong.text)
		default:
			r.notes("%d of %d are %s", wrong.n, t.due, wrong.text)
		}
	}
}
