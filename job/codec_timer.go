package job

import (
	"encoding/binary"

	"github.com/carillon-io/carillon/schedule"
)

// PutTimer adds the hot row of a job. Nearly every commit has some of these rows, so the row has numbers only, and
// most of them take one or two bytes.
func (b *Batch) PutTimer(id ID, t Timer) {
	v := append(b.value[:0], rowVersion)
	v = binary.AppendUvarint(v, uint64(t.Profile))
	v = appendMillis(appendMillis(v, t.Cursor), t.Last)
	v = binary.AppendUvarint(v, uint64(t.Version))
	v = binary.AppendUvarint(v, uint64(t.Runs))
	v = binary.AppendUvarint(v, uint64(t.Manual))
	b.value = append(v, byte(t.Flags))
	b.key = AppendJobKey(b.key[:0], KindTimer, id)
	b.Put(b.key, b.value)
}

// DecodeTimer decodes the hot row of a job.
func DecodeTimer(value []byte) (Timer, error) {
	r := rowReader{b: value}
	if r.byte() != rowVersion {
		r.fail("unknown version of a timer row")
	}
	t := Timer{
		Profile: r.uint32(), Cursor: r.millis(), Last: r.millis(),
		Version: r.uint32(), Runs: r.uint32(), Manual: r.uint32(),
		Flags: TimerFlags(r.byte()),
	}
	return t, r.finish()
}

// PutProfile adds an interned profile under its number. It must come before, or in, the commit of the first job that
// refers to it.
func (b *Batch) PutProfile(n uint32, p Profile) {
	v := append(b.value[:0], rowVersion2)
	v = appendText(appendText(v, p.Spec.Expr), p.Spec.Zone)
	v = appendMillis(appendMillis(v, p.Spec.StartsAt), p.Spec.EndsAt)
	v = append(v, byte(p.Overlap), byte(p.Missed))
	v = appendMillis(v, p.CatchupWindow)
	v = binary.AppendUvarint(v, uint64(p.MaxCatchupRuns))
	v = binary.AppendUvarint(v, uint64(p.MaxRuns))
	v = appendRetry(v, p.Retry)
	v = appendText(v, p.Spec.Exclude)
	v = appendMillis(appendMillis(v, p.Jitter), p.ReportWithin)
	v = binary.AppendUvarint(v, uint64(p.MaxConcurrent))
	v = binary.AppendUvarint(v, uint64(p.PauseOnFailure))
	b.value = appendBool(appendFloat(v, p.Retry.Jitter), p.Retry.ClientErrors)
	b.key = AppendProfileKey(b.key[:0], n)
	b.Put(b.key, b.value)
}

// DeleteProfile deletes an interned profile to which no job refers any more.
func (b *Batch) DeleteProfile(n uint32) {
	b.key = AppendProfileKey(b.key[:0], n)
	b.Delete(b.key)
}

// DecodeProfile decodes an interned profile.
func DecodeProfile(value []byte) (Profile, error) {
	r := newRowReaderUpTo(rowVersion2, value)
	p := Profile{
		Spec:    schedule.Spec{Expr: r.text(), Zone: r.text(), StartsAt: r.millis(), EndsAt: r.millis()},
		Overlap: Overlap(r.byte()), Missed: Missed(r.byte()),
		CatchupWindow: r.millis(), MaxCatchupRuns: r.uint32(), MaxRuns: r.uint32(),
	}
	p.Retry = r.retry()
	if r.has(rowVersion2) {
		p.Spec.Exclude = r.text()
		p.Jitter, p.ReportWithin = r.millis(), r.millis()
		p.MaxConcurrent, p.PauseOnFailure = r.uint32(), r.uint32()
		p.Retry.Jitter, p.Retry.ClientErrors = r.float(), r.bool()
	}
	return p, r.finish()
}

// PutStreak adds the number of runs of a job that ended dead in a row.
func (b *Batch) PutStreak(id ID, n uint32) {
	b.key = AppendJobKey(b.key[:0], KindStreak, id)
	b.value = binary.AppendUvarint(append(b.value[:0], rowVersion), uint64(n))
	b.Put(b.key, b.value)
}

// DecodeStreak decodes the number of runs of a job that ended dead in a row.
func DecodeStreak(value []byte) (uint32, error) {
	r := newRowReader(value)
	n := r.uint32()
	return n, r.finish()
}

// PutMeta adds a number under a name: a counter or a mark of the whole engine. Its users name their numbers in
// package scheduler/core.
func (b *Batch) PutMeta(name string, value uint64) {
	b.key = AppendMetaKey(b.key[:0], name)
	b.value = binary.AppendUvarint(append(b.value[:0], rowVersion), value)
	b.Put(b.key, b.value)
}

// DecodeMeta decodes a number that PutMeta, PutSlotsFrom or PutIndexed wrote.
func DecodeMeta(value []byte) (uint64, error) {
	r := newRowReaderUpTo(rowVersion7, value)
	n := r.uint()
	return n, r.finish()
}

// MetaSlotsFrom is the name of the meta row with the first id that may carry a slot. Without the row, no id does.
const MetaSlotsFrom = "slots_from"

// PutSlotsFrom records that the ids from first on carry slots. The row has a version of its own, so that a build that
// would give out ids without slots refuses the batch, and later the store, before it changes anything.
func (b *Batch) PutSlotsFrom(first ID) {
	b.key = AppendMetaKey(b.key[:0], MetaSlotsFrom)
	b.value = binary.AppendUvarint(append(b.value[:0], rowVersion5), uint64(first))
	b.Put(b.key, b.value)
}
