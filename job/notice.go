package job

import (
	"encoding/binary"
	"fmt"

	"github.com/carillon-io/carillon/instant"
)

// Notice announces that a run changed its state. It is in the commit that makes the change, and is deleted once it is
// published. So each change is announced at least once: a crash between publishing and deleting publishes it again,
// under the same message id.
type Notice struct {
	ID     NoticeID
	Dead   bool // goes to the dead-letter subject too
	Event  bool // goes to the stream of events
	At     instant.Millis
	Run    RunID
	Status Status
	Reason Reason
	Until  instant.Millis // of a skipped range
	// Attempt and Fence belong to the attempt that ended or begins; Error is why it failed.
	Attempt uint32
	Fence   uint64
	Error   string
	// Tenant and Name of the job, if the same commit deletes it; "" otherwise.
	Tenant, Name string
}

// NoticeID is the place of a notice in the outbox. Ids ascend with time.
type NoticeID struct {
	LSN uint64 // of the commit that made the change
	Seq uint32 // within it, from 0
}

// String returns the id in the form used in the message ids of events.
func (n NoticeID) String() string { return fmt.Sprintf("%d-%d", n.LSN, n.Seq) }

// noticeKeyBytes is the length of a key of KindOutbox.
const noticeKeyBytes = 1 + 8 + 4

// Bits of a notice that say where it goes.
const (
	noticeDead  = 1 << 0
	noticeEvent = 1 << 1
)

// AppendNoticeKey appends the key of a notice in the outbox. Unlike in the audit log the numbers are not inverted,
// because the outbox is read oldest first.
func AppendNoticeKey(b []byte, id NoticeID) []byte {
	b = binary.BigEndian.AppendUint64(append(b, byte(KindOutbox)), id.LSN)
	return binary.BigEndian.AppendUint32(b, id.Seq)
}

// PutNotice adds a notice to the outbox.
func (b *Batch) PutNotice(n *Notice) {
	where := byte(0)
	if n.Dead {
		where |= noticeDead
	}
	if n.Event {
		where |= noticeEvent
	}
	v := append(b.value[:0], rowVersion, where, byte(n.Status), byte(n.Reason))
	v = appendRun(appendMillis(appendMillis(v, n.At), n.Until), n.Run)
	v = binary.AppendUvarint(binary.AppendUvarint(v, uint64(n.Attempt)), n.Fence)
	b.value = appendText(appendText(appendText(v, n.Error), n.Tenant), n.Name)
	b.key = AppendNoticeKey(b.key[:0], n.ID)
	b.Put(b.key, b.value)
}

// DeleteNotice deletes a notice, which is published.
func (b *Batch) DeleteNotice(id NoticeID) {
	b.key = AppendNoticeKey(b.key[:0], id)
	b.Delete(b.key)
}

// DecodeNotice decodes a notice of the outbox.
func DecodeNotice(key, value []byte) (Notice, error) {
	if len(key) != noticeKeyBytes {
		return Notice{}, fmt.Errorf("job: key of a notice of %d bytes, want %d", len(key), noticeKeyBytes)
	}
	r := newRowReader(value)
	where := r.byte()
	n := Notice{
		ID:   NoticeID{LSN: binary.BigEndian.Uint64(key[1:]), Seq: binary.BigEndian.Uint32(key[9:])},
		Dead: where&noticeDead != 0, Event: where&noticeEvent != 0,
		Status: Status(r.byte()), Reason: Reason(r.byte()), At: r.millis(), Until: r.millis(),
		Run: r.run(), Attempt: r.uint32(), Fence: r.uint(), Error: r.text(),
		Tenant: r.text(), Name: r.text(),
	}
	return n, r.finish()
}

// run reads a run id that appendRun wrote.
func (r *rowReader) run() RunID {
	if len(r.b) < runKeyBytes {
		r.fail("cut short")
		return RunID{}
	}
	b := r.b
	r.b = b[runKeyBytes:]
	id, _ := ParseRunKey(append([]byte{0}, b[:runKeyBytes]...)) // its length is right, so this cannot fail
	return id
}

// Announcement is a notice with everything else that its readers need: the job as it is now. The definition is read
// when the notice is published, which keeps payloads out of the outbox; an update in between is therefore visible in
// it.
type Announcement struct {
	Notice      // with Tenant and Name set
	Target      Target
	Payload     []byte // as the target would have received it; only for a dead run
	PayloadJSON bool
	Headers     []Pair
	// SecretHeaders are headers with references in place of values.
	SecretHeaders []Pair
	Attempts      []Attempt // only for a dead run
}
