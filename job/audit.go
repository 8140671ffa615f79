package job

import (
	"encoding/binary"
	"fmt"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// Action is the kind of a change in the audit log. Its value is stored, so actions are only added at the end.
type Action uint8

// The actions. Zero is none.
const (
	ActionCreate Action = iota + 1
	ActionUpdate
	ActionDelete
	ActionPause
	ActionResume
	ActionTrigger
	ActionBackfill
	ActionCancelRun
	ActionRetryRun
	ActionPutCalendar
	ActionDeleteCalendar
	ActionDismissRun
	ActionHandOver
	ActionMoveShard
	ActionDrainNode
	ActionKeepNode
	ActionRemoveNode
)

// actionNames are the API's words, at the index of their action.
var actionNames = []string{
	"", "create", "update", "delete", "pause", "resume", "trigger", "backfill", "cancel_run", "retry_run",
	"put_calendar", "delete_calendar", "dismiss_run",
	"hand_over", "move_shard", "drain_node", "keep_node", "remove_node",
}

// String returns the API's word for the action.
func (a Action) String() string { return nameOf(actionNames, uint8(a)) }

// ParseAction parses the API's word for an action.
func ParseAction(s string) (Action, error) {
	return parseName[Action](actionNames, s, apierr.InvalidField, "action")
}

// Actor is who asked for a change. Each text is at most ActorBytesMax bytes, and may be "".
type Actor struct {
	// By is the caller as the server has recognized it. On a server without rights it is what the caller says about
	// itself, which nothing proves.
	By   string
	From string // the origin that the server saw
	// Claimed is what a caller that was recognized says about itself. An entry with it needs rows of
	// [RowsVersionOfClaims].
	Claimed string
}

// ActorEngine is the actor of changes that no caller asked for, such as the pause of a failing job or the deletion of
// a completed one.
var ActorEngine = Actor{By: "carillon"}

// AuditID is the place of an entry in the audit log. Ids ascend with time. It is unique without a counter of its own,
// because an LSN is given to one commit only.
type AuditID struct {
	LSN uint64 // of the commit that made the change
	Seq uint32 // within it, from 0
}

// AuditEntry records one change: who made it, to which job, when and from where. It is in the commit that makes the
// change.
type AuditEntry struct {
	ID     AuditID
	At     instant.Millis
	Actor  Actor
	Action Action
	Tenant string
	Name   string // of the job or the calendar, or of the node that an operation on the cluster is about
	Job    ID     // 0 for a calendar or a node
	Detail string // the reason of a pause, the id of a run, the range of a backfill, the shard of an operation

	// Before and After are definitions encoded by [EncodeDefinition], without their payloads and with masks in place
	// of credentials; entries of the first release contain the credentials themselves. A creation has neither: its
	// definition is in the job, or in Before of the job's next entry. A change that does not update the definition
	// has neither.
	Before, After []byte
}

// auditKeyBytes is the length of a key of KindAudit.
const auditKeyBytes = 1 + 4 + 8 + 4

// AppendAuditKey appends the key of an entry of the audit log. Entries lie in the bucket of their day, newest first.
// The bucket is what retention deletes at once; the inverted LSN lets a reader of the newest page start at the front
// of the bucket.
func AppendAuditKey(b []byte, day uint32, id AuditID) []byte {
	b = binary.BigEndian.AppendUint32(append(b, byte(KindAudit)), day)
	b = binary.BigEndian.AppendUint64(b, ^id.LSN)
	return binary.BigEndian.AppendUint32(b, ^id.Seq)
}

// ParseAuditKey parses the key of an entry of the audit log.
func ParseAuditKey(key []byte) (day uint32, id AuditID, err error) {
	if len(key) != auditKeyBytes {
		return 0, id, fmt.Errorf("job: audit key of %d bytes, want %d", len(key), auditKeyBytes)
	}
	id = AuditID{LSN: ^binary.BigEndian.Uint64(key[5:]), Seq: ^binary.BigEndian.Uint32(key[13:])}
	return binary.BigEndian.Uint32(key[1:]), id, nil
}

// PutAudit adds an entry to the audit log. An entry is never replaced: its key contains the LSN of the commit that
// adds it. Because it is in that commit, a change without its entry cannot become durable.
func (b *Batch) PutAudit(e *AuditEntry) {
	version := byte(rowVersion)
	if e.Actor.Claimed != "" {
		version = RowsVersionOfClaims
	}
	v := append(b.value[:0], version, byte(e.Action))
	v = appendText(appendText(appendMillis(v, e.At), e.Actor.By), e.Actor.From)
	v = appendText(appendText(v, e.Tenant), e.Name)
	v = appendText(binary.AppendUvarint(v, uint64(e.Job)), e.Detail)
	v = append(binary.AppendUvarint(v, uint64(len(e.Before))), e.Before...)
	b.value = append(binary.AppendUvarint(v, uint64(len(e.After))), e.After...)
	if e.Actor.Claimed != "" {
		b.value = appendText(b.value, e.Actor.Claimed)
	}
	b.key = AppendAuditKey(b.key[:0], Day(e.At), e.ID)
	b.Put(b.key, b.value)
}

// DecodeAudit decodes an entry of the audit log. The result shares no memory with value.
func DecodeAudit(id AuditID, value []byte) (AuditEntry, error) {
	r := newRowReaderUpTo(RowsVersionOfClaims, value)
	e := AuditEntry{
		ID: id, Action: Action(r.byte()), At: r.millis(), Actor: Actor{By: r.text(), From: r.text()},
		Tenant: r.text(), Name: r.text(), Job: ID(r.uint()), Detail: r.text(),
		Before: append([]byte(nil), r.bytes()...), After: append([]byte(nil), r.bytes()...),
	}
	if r.has(RowsVersionOfClaims) {
		e.Actor.Claimed = r.text()
	}
	return e, r.finish()
}

// AuditDefinition encodes a definition for the audit log: masked, so that no credential stays there after its
// rotation, and without its payload, which is often large and not needed there.
func AuditDefinition(d *Definition) []byte {
	masked := d.Masked()
	return auditDefinition(&masked)
}

// AuditUpdate encodes the definitions before and after an update, for the audit log. The one after is given in its
// encoded form. A credential that the update replaces is [MaskChanged] in the result after. The masks hide both
// values, so without MaskChanged the entry of a rotated credential would show no difference.
func AuditUpdate(before *Definition, after []byte) (from, to []byte, err error) {
	d, err := DecodeAuditDefinition(after)
	if err != nil {
		return nil, nil, err
	}
	d = d.MaskedAfter(before)
	return AuditDefinition(before), auditDefinition(&d), nil
}

// auditDefinition encodes a definition that is masked already. It leaves out the members of version 4 where they are
// zero, so that earlier releases can read the entry.
func auditDefinition(d *Definition) []byte {
	bare := *d
	bare.Payload, bare.PayloadJSON = nil, false
	b := EncodeDefinition(&bare)
	if !d.HasSecrets() {
		b, _ = cutDefinition4(b)
	}
	return b
}

// DecodeAuditDefinition decodes the result of EncodeDefinition or AuditDefinition. The entry has no version byte of
// the definition: bytes that follow the members of version 2 are those of version 4, and bytes that follow these are
// those of version 6 and its mark.
func DecodeAuditDefinition(b []byte) (Definition, error) {
	r := &rowReader{b: b, version: rowVersion2}
	d := r.definition()
	if len(r.b) > 0 {
		d.Target.MaxInFlight = r.uint32()
	}
	if len(r.b) > 0 {
		r.definition6(&d)
		if r.byte() != definition6Mark {
			r.fail("no mark of version 6")
		}
	}
	return d, r.finish()
}
