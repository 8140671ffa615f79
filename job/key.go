package job

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/carillon-io/carillon/instant"
)

// Kind is the first byte of a row's key: what the row is. It is stored, and it orders the store: the rows of one kind
// are one range of keys.
type Kind byte

// The kinds of row. Zero is none.
const (
	KindMeta       Kind = iota + 1 // name -> value
	KindProfile                    // profile number -> Profile
	KindJob                        // job -> Record
	KindName                       // tenant, name -> job
	KindTimer                      // job -> Timer
	KindRun                        // live run -> Run
	KindHistory                    // day, final run -> Run
	KindNote                       // job -> Note
	KindOnce                       // day, job, idempotency key -> run
	KindPayload                    // live manual run -> its own payload; read, but not written any more
	KindStreak                     // job -> runs in a row that ended dead
	KindDebt                       // job -> Debt
	KindDead                       // day, tenant's hash, dead run -> nothing: finds the run by tenant
	KindOutbox                     // LSN, number -> Notice to be published
	KindAudit                      // day, LSN, number -> AuditEntry
	KindCalendar                   // tenant, name -> Calendar
	KindRunPayload                 // day, manual run -> its own payload
	KindLabel                      // label's hash, name -> nothing: finds the job by its label
	KindTrait                      // tenant's hash, trait, job -> nothing: finds the job by what its timer says
	KindDeleted                    // deleted job of which notices are still to be published -> its Record
	kindEnd
)

// KindLast is the kind that came last. The kinds are KindMeta to KindLast, without gaps.
const KindLast = kindEnd - 1

// Numbers in keys are big-endian, so that keys sort like numbers. In the keys of runs, the scheduled time and the
// number are inverted, so that the newest run of a job comes first.

// dayMillis is the length of one bucket of the history, which is deleted bucket by bucket.
const dayMillis = 24 * 60 * 60 * 1000

// Day returns the bucket of the history that contains an instant. The bucket is a day in UTC, counted from the Unix
// epoch.
func Day(at instant.Millis) uint32 { return uint32(at / dayMillis) }

// AppendMetaKey appends the key of a meta row.
func AppendMetaKey(b []byte, name string) []byte {
	return append(append(b, byte(KindMeta)), name...)
}

// AppendProfileKey appends the key of an interned profile.
func AppendProfileKey(b []byte, n uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, byte(KindProfile)), n)
}

// AppendJobKey appends the key of a row of a kind of which each job has at most one: KindJob, KindTimer, KindNote,
// KindStreak, KindDebt, KindDeleted.
func AppendJobKey(b []byte, kind Kind, id ID) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(kind)), uint64(id))
}

// JobKinds are the kinds of row of which a job has at most one, and that are deleted with it. A kind that is missing here
// would leave rows of deleted jobs in the store. KindDeleted is none of them: it begins with the deletion.
var JobKinds = [...]Kind{KindJob, KindTimer, KindNote, KindStreak, KindDebt}

// AppendNameKey appends the key of a name row. A tenant contains no zero byte, so the names of one tenant are one
// range of keys, in the order of names.
func AppendNameKey(b []byte, tenant, name string) []byte {
	b = append(append(b, byte(KindName)), tenant...)
	return append(append(b, 0), name...)
}

// AppendRunKey appends the key of a live run. The live runs of one job are one range of keys.
func AppendRunKey(b []byte, r RunID) []byte {
	return appendRun(append(b, byte(KindRun)), r)
}

// AppendPayloadKey appends the key of a manual run's own payload. It is in the bucket of its day, because the payload
// of a dead run is kept as long as the history, for a retry.
func AppendPayloadKey(b []byte, r RunID) []byte {
	b = binary.BigEndian.AppendUint32(append(b, byte(KindRunPayload)), Day(r.At))
	return appendRun(b, r)
}

// AppendOldPayloadKey appends the key that the first release used for a manual run's own payload.
func AppendOldPayloadKey(b []byte, r RunID) []byte {
	return appendRun(append(b, byte(KindPayload)), r)
}

// AppendHistoryKey appends the key of a final run. The day comes before the job, so that retention deletes a day as
// one range; a reader of a job's history visits one range for each day in turn.
func AppendHistoryKey(b []byte, r RunID) []byte {
	b = binary.BigEndian.AppendUint32(append(b, byte(KindHistory)), Day(r.At))
	return appendRun(b, r)
}

// AppendHistoryDay appends the prefix of a job's runs in one bucket of the history.
func AppendHistoryDay(b []byte, day uint32, id ID) []byte {
	b = binary.BigEndian.AppendUint32(append(b, byte(KindHistory)), day)
	return binary.BigEndian.AppendUint64(b, uint64(id))
}

// AppendBucket appends the prefix of a whole bucket of rows of a kind, for deleting it.
func AppendBucket(b []byte, kind Kind, day uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, byte(kind)), day)
}

// BucketDay returns the day of the bucket that a key is in. The key is longer than what AppendBucket appends, or as long.
func BucketDay(key []byte) uint32 { return binary.BigEndian.Uint32(key[1:]) }

// AppendOnceKey appends the key of the row for an idempotency key. The key is last and has no length, because nothing
// follows it.
func AppendOnceKey(b []byte, day uint32, id ID, key string) []byte {
	b = binary.BigEndian.AppendUint32(append(b, byte(KindOnce)), day)
	return append(binary.BigEndian.AppendUint64(b, uint64(id)), key...)
}

// appendRun appends a run id in the order in which runs are listed: by job, newest first.
func appendRun(b []byte, r RunID) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(r.Job))
	b = binary.BigEndian.AppendUint64(b, ^uint64(r.At))
	return binary.BigEndian.AppendUint32(b, ^r.Seq)
}

// runKeyBytes is the length of what appendRun appends.
const runKeyBytes = 20

// ParseRunKey parses the key of a live or final run. It reads the end of the key, which is the same for all kinds of
// run keys, whatever comes before.
func ParseRunKey(key []byte) (RunID, error) {
	if len(key) < runKeyBytes+1 {
		return RunID{}, fmt.Errorf("job: run key of %d bytes is too short", len(key))
	}
	k := key[len(key)-runKeyBytes:]
	return RunID{
		Job: ID(binary.BigEndian.Uint64(k)),
		At:  instant.Millis(^binary.BigEndian.Uint64(k[8:])),
		Seq: ^binary.BigEndian.Uint32(k[16:]),
	}, nil
}

// ParseJobKey parses the key of a row of a kind of which each job has at most one.
func ParseJobKey(key []byte) (ID, error) {
	if len(key) != 9 {
		return 0, fmt.Errorf("job: job key of %d bytes, want 9", len(key))
	}
	return ID(binary.BigEndian.Uint64(key[1:])), nil
}

// ParseProfileKey parses the key of a profile.
func ParseProfileKey(key []byte) (uint32, error) {
	if len(key) != 5 {
		return 0, fmt.Errorf("job: profile key of %d bytes, want 5", len(key))
	}
	return binary.BigEndian.Uint32(key[1:]), nil
}

// ParseNameKey parses the key of a name row. The results are copies.
func ParseNameKey(key []byte) (tenant, name string, err error) {
	t, n, err := CutNameKey(key)
	return string(t), string(n), err
}

// CutNameKey is [ParseNameKey] without a copy: what it returns are parts of the key.
func CutNameKey(key []byte) (tenant, name []byte, err error) {
	if len(key) > 0 {
		if tenant, name, ok := bytes.Cut(key[1:], []byte{0}); ok {
			return tenant, name, nil
		}
	}
	return nil, nil, fmt.Errorf("job: name key has no tenant")
}

// PrefixEnd returns the first key after all keys with a prefix, or nil if there is none. It is the exclusive upper
// bound of a scan or of a DeleteRange over the prefix. It does not change its argument.
func PrefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
