package job

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/carillon-io/carillon/instant"
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

// DecodeTimer decodes the hot row of a job. A start decodes one for each job, so it does without the general reader of rows
// and takes the numbers of one byte, which most are, by themselves.
func DecodeTimer(value []byte) (t Timer, err error) {
	if len(value) == 0 || value[0] != rowVersion {
		return Timer{}, fmt.Errorf("%w: unknown version of a timer row", ErrRow)
	}
	r := timerReader{b: value[1:]}
	t.Profile = r.uint32()
	t.Cursor, t.Last = r.millis(), r.millis()
	t.Version, t.Runs, t.Manual = r.uint32(), r.uint32(), r.uint32()
	if r.bad || len(r.b) != 1 {
		return Timer{}, fmt.Errorf("%w: a timer row is cut short, too long, or has a bad number", ErrRow)
	}
	t.Flags = TimerFlags(r.b[0])
	return t, nil
}

// timerReader reads the numbers of a hot row. After a bad one it reads zeros.
type timerReader struct {
	b   []byte
	bad bool
}

func (r *timerReader) uint32() uint32 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint32(v)
	}
	return r.longUint32()
}

func (r *timerReader) longUint32() uint32 {
	v := r.long()
	r.bad = r.bad || v > math.MaxUint32
	return uint32(v)
}

// long reads an unsigned varint of any length.
func (r *timerReader) long() uint64 {
	v, w := binary.Uvarint(r.b)
	if w <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[w:]
	return v
}

func (r *timerReader) millis() instant.Millis {
	v := r.long()
	return instant.Millis(v>>1) ^ -instant.Millis(v&1)
}

// PutProfile adds an interned profile under its number. It must come before, or in, the commit of the first job that
// refers to it.
func (b *Batch) PutProfile(n uint32, p Profile) {
	b.value = AppendProfile(b.value[:0], &p)
	b.key = AppendProfileKey(b.key[:0], n)
	b.Put(b.key, b.value)
}

// AppendProfile appends the encoding of a profile, as PutProfile writes it. Equal profiles have equal bytes, and others have
// others.
func AppendProfile(b []byte, p *Profile) []byte {
	v := append(b, rowVersion2)
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
	return appendBool(appendFloat(v, p.Retry.Jitter), p.Retry.ClientErrors)
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
