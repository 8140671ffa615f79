package job

import (
	"encoding/binary"
	"slices"

	"github.com/carillon-io/carillon/instant"
)

// Debt is a list of equidistant ticks that were missed and are still to be fired: From, From+Step and so on up to
// Last. It names its ticks itself, so that no later change of the schedule adds or removes one. A job that missed
// 1,000 ticks at one distance is one Debt of a few bytes; a list of instants would be written again with each tick
// that is caught up.
//
// Invariant: if Step is positive, Last-From is a multiple of it and not zero; if Step is 0, Last is From.
type Debt struct {
	From, Last instant.Millis
	Step       instant.Millis // 0 if there is only one tick
	Joined     bool           // the schedule had no tick between this Debt and the one before it
}

// byScheduleStep is the Step of a row of version 1 with more than one tick: the ticks are those of the schedule.
const byScheduleStep = -1

// IsBySchedule reports whether the ticks are those of the job's schedule from From to Last. Rows of the first
// releases are such; their ticks must be listed before anything else changes.
func (d Debt) IsBySchedule() bool { return d.Step == byScheduleStep }

// Ticks returns the number of ticks; 0 if IsBySchedule.
func (d Debt) Ticks() int {
	switch {
	case d.IsBySchedule():
		return 0
	case d.Step == 0:
		return 1
	}
	return int((d.Last-d.From)/d.Step) + 1
}

// Has reports whether an instant is one of the ticks; if IsBySchedule, whether it lies between them.
func (d Debt) Has(at instant.Millis) bool {
	if at < d.From || at > d.Last {
		return false
	}
	return d.Step <= 0 || (at-d.From)%d.Step == 0
}

// Rest returns the debt without its first tick, and whether any tick is left.
func (d Debt) Rest() (Debt, bool) {
	if d.From == d.Last {
		return Debt{}, false
	}
	d.Joined = false
	if d.From += d.Step; d.From == d.Last {
		d.Step = 0
	}
	return d, true
}

// AddDebt appends a tick to a list. joined says that the schedule has no tick in between. at must be later than every
// tick of the list. It changes the last element of the list in place. Ticks are only merged if joined, because a
// distance across a gap of the schedule is a coincidence that would hide the gap.
func AddDebt(list []Debt, at instant.Millis, joined bool) []Debt {
	if n := len(list) - 1; n >= 0 && joined {
		last := &list[n]
		if step := at - last.Last; last.Step == 0 || last.Step == step {
			last.Step, last.Last = step, at
			return list
		}
	}
	return append(list, Debt{From: at, Last: at, Joined: joined && len(list) > 0})
}

// PutDebt adds the missed ticks that a job has still to fire, oldest first.
func (b *Batch) PutDebt(id ID, list []Debt) {
	b.value = appendDebts(b.value[:0], list)
	b.key = AppendJobKey(b.key[:0], KindDebt, id)
	b.Put(b.key, b.value)
}

// appendDebts appends the list in version 1 if that can express it: if each tick is alone.
func appendDebts(v []byte, list []Debt) []byte {
	if !slices.ContainsFunc(list, func(d Debt) bool { return d.Step != 0 || d.Joined }) {
		v = binary.AppendUvarint(append(v, rowVersion), uint64(len(list)))
		for _, d := range list {
			v = appendMillis(appendMillis(v, d.From), d.Last)
		}
		return v
	}
	v = binary.AppendUvarint(append(v, rowVersion2), uint64(len(list)))
	end := instant.Millis(0)
	for _, d := range list {
		head := uint64(d.Ticks()) << 1
		if d.Joined {
			head |= 1
		}
		v = appendMillis(binary.AppendUvarint(v, head), d.From-end)
		if d.Step > 0 {
			v = appendMillis(v, d.Step)
		}
		end = d.Last
	}
	return v
}

// DecodeDebt decodes the missed ticks that a job has still to fire.
func DecodeDebt(value []byte) ([]Debt, error) {
	r := newRowReaderUpTo(rowVersion2, value)
	var list []Debt
	end := instant.Millis(0)
	for range r.count() {
		if r.err != nil {
			break
		}
		d := r.debt(end)
		end = d.Last
		list = append(list, d)
	}
	return slices.Clip(list), r.finish()
}

// debt reads one Debt; end is the last tick of the one before. It refuses numbers that no list of this build can
// have, so that Ticks and Rest need no check against overflow.
func (r *rowReader) debt(end instant.Millis) Debt {
	if !r.has(rowVersion2) {
		d := Debt{From: r.millis(), Last: r.millis()}
		if d.Last != d.From {
			d.Step = byScheduleStep
		}
		return d
	}
	head := r.uint()
	d := Debt{From: end + r.millis(), Joined: head&1 != 0}
	d.Last = d.From
	n := head >> 1
	if n > 1 {
		d.Step = r.millis()
	}
	if n == 0 || n > CatchupRunsMax || n > 1 && d.Step <= 0 || d.Step > instant.Max {
		r.fail("bad number of ticks")
		return Debt{}
	}
	d.Last += instant.Millis(n-1) * d.Step
	return d
}
