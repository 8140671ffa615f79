package job

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// ID numbers a job for the lifetime of the cluster: the upper 56 bits are a counter in the log, the lower eight the
// [Slot] of the job's name. Ids grow with time, because the counter does, so the rows of new jobs are at the end of
// their range of keys. The slot lets a run id be sent to the shard that has the job, without a search for its name.
// The counter begins at a random number, so that the run ids of two clusters do not collide in the duplicate window of
// one stream. Zero means no job. An id is never reused, so a run or a row of a deleted job cannot be taken for one of
// a later job with the same name.
//
// Ids that earlier releases gave out have no slot: they are the counter alone. A store records the first id that may
// have one (see [Batch.PutSlotsFrom]); of an id below it, Counter and Slot have no meaning.
type ID uint64

const (
	// slotBits is the width of the slot in an id.
	slotBits = 8
	// CounterMax is the largest counter that fits into an id. It is 7 × 10^16: at a million new jobs a second it
	// lasts for two thousand years.
	CounterMax = 1<<(64-slotBits) - 1
)

// NewID returns the id of a job by its counter, from 1 to [CounterMax], and the slot of its name. It panics for
// another counter: the id would be that of another job.
func NewID(counter uint64, slot Slot) ID {
	if counter == 0 || counter > CounterMax {
		panic(fmt.Sprintf("job: id with counter %d, want 1 to %d", counter, uint64(CounterMax)))
	}
	return ID(counter<<slotBits | uint64(slot))
}

// Counter returns the number of the job among all jobs of the cluster, in the order in which they were created. It has
// gaps.
func (id ID) Counter() uint64 { return uint64(id >> slotBits) }

// Slot returns the slot of the job's name.
func (id ID) Slot() Slot { return Slot(id & (Slots - 1)) }

// idDigits is Crockford's base 32 in lower case: it sorts like the numbers and has no look-alikes.
const idDigits = "0123456789abcdefghjkmnpqrstvwxyz"

// idTextBytes is the length of an ID's text: 13 digits of 5 bits hold 64. The first digit holds 4 bits, so it is at
// most f.
const idTextBytes = 13

// String returns the ID as 13 digits that sort like the number.
func (id ID) String() string { return string(id.Append(nil)) }

// Append appends the digits of [ID.String].
func (id ID) Append(b []byte) []byte {
	for shift := 60; shift >= 0; shift -= 5 {
		b = append(b, idDigits[(id>>shift)&31])
	}
	return b
}

// ParseID is the inverse of [ID.String].
func ParseID(s string) (ID, error) {
	if len(s) != idTextBytes || s[0] > 'f' {
		return 0, fmt.Errorf("job: id %q: want %d digits of base 32", s, idTextBytes)
	}
	var id ID
	for i := range len(s) {
		d := strings.IndexByte(idDigits, s[i])
		if d < 0 {
			return 0, fmt.Errorf("job: id %q: %q is no digit of base 32", s, s[i])
		}
		id = id<<5 | ID(d)
	}
	return id, nil
}

// RunID is the identity of a run. It is the same for each of its attempts, over crashes and failovers, and can be
// computed before the run exists. It is comparable and holds no pointer. At most one run has it: the log contains one
// decision for it, and a target may deduplicate by it.
type RunID struct {
	Job ID
	At  instant.Millis // the scheduled time
	Seq uint32         // 0 for a run of the schedule; n for the job's n-th manual run
}

// IsManual reports whether a caller, not the schedule, started the run.
func (r RunID) IsManual() bool { return r.Seq != 0 }

// String returns the run id as callers and targets see it: job, scheduled time in milliseconds and,
// for a manual run, its number.
func (r RunID) String() string {
	b := make([]byte, 0, 48)
	b = append(r.Job.Append(b), '-')
	b = strconv.AppendInt(b, int64(r.At), 10)
	if r.Seq != 0 {
		b = strconv.AppendUint(append(b, '-'), uint64(r.Seq), 10)
	}
	return string(b)
}

// ParseRunID is the inverse of [RunID.String]. It accepts no other spelling of the same run. One run thus has one
// text, which callers may compare and use as a key.
func ParseRunID(s string) (RunID, error) {
	bad := apierr.Errorf(apierr.InvalidField, "run_id", "%q is no run id; want one as runs.list returns it, such as 0000000000001-1764576000000", apierr.Clip(s))
	parts := strings.Split(s, "-")
	if len(s) > 64 || len(parts) < 2 || len(parts) > 3 {
		return RunID{}, bad
	}
	id, err := ParseID(parts[0])
	if err != nil {
		return RunID{}, bad
	}
	at, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return RunID{}, bad
	}
	r := RunID{Job: id, At: instant.Millis(at)}
	if len(parts) == 3 {
		seq, err := strconv.ParseUint(parts[2], 10, 32)
		if err != nil {
			return RunID{}, bad
		}
		r.Seq = uint32(seq)
	}
	if r.String() != s {
		return RunID{}, bad
	}
	return r, nil
}
