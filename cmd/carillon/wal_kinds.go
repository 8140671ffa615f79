package main

import (
	"encoding/binary"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// rowKinds says how each kind of row is shown. A kind that is missing here is shown by its number and in hex.
var rowKinds = map[job.Kind]rowKind{
	job.KindMeta:       {"meta", textKey, metaFields},
	job.KindProfile:    {"profile", profileKey, profileFields},
	job.KindJob:        {"job", jobKey, recordFields},
	job.KindName:       {"name", nameKey, nameFields},
	job.KindTimer:      {"timer", jobKey, timerFields},
	job.KindRun:        {"run", runKey, runFields},
	job.KindHistory:    {"history", runKey, runFields},
	job.KindNote:       {"note", jobKey, noteFields},
	job.KindOnce:       {"once", onceKey, onceFields},
	job.KindPayload:    {"old_payload", runKey, payloadFields},
	job.KindStreak:     {"streak", jobKey, streakFields},
	job.KindDebt:       {"debt", jobKey, debtFields},
	job.KindDead:       {"dead", deadKey, noFields},
	job.KindOutbox:     {"outbox", noticeKey, noticeFields},
	job.KindAudit:      {"audit", auditKey, auditFields},
	job.KindCalendar:   {"calendar", nameKey, calendarFields},
	job.KindRunPayload: {"payload", runKey, payloadFields},
	job.KindLabel:      {"label", labelKey, noFields},
	job.KindTrait:      {"trait", traitKey, noFields},
	job.KindDeleted:    {"deleted", jobKey, deletedFields},
}

// textKey returns a key that is a text behind the byte of its kind.
func textKey(key []byte) (string, error) { return string(key[1:]), nil }

// profileKey returns the number of a profile.
func profileKey(key []byte) (string, error) {
	n, err := job.ParseProfileKey(key)
	return fmt.Sprint(n), err
}

// jobKey returns the id of the job that a row belongs to.
func jobKey(key []byte) (string, error) {
	id, err := job.ParseJobKey(key)
	return id.String(), err
}

// nameKey returns the tenant and the name, which only the key has.
func nameKey(key []byte) (string, error) {
	tenant, name, err := job.ParseNameKey(key)
	return tenant + " " + name, err
}

// runKey returns the id of the run, whose parts are the key.
func runKey(key []byte) (string, error) {
	id, err := job.ParseRunKey(key)
	return id.String(), err
}

// onceKey returns the idempotency key, which follows day and job in the key of a row. Package job has no parser for
// this key.
func onceKey(key []byte) (string, error) {
	const head = 1 + 4 + 8
	if len(key) < head {
		return "", fmt.Errorf("key of %d bytes is too short", len(key))
	}
	return fmt.Sprintf("%q", key[head:]), nil
}

// deadKey returns the run that an entry of the index of dead runs stands for.
func deadKey(key []byte) (string, error) {
	id, err := job.ParseDeadKey(key)
	return id.String(), err
}

// noticeKey returns the position of a notice in the outbox, which is only in the key.
func noticeKey(key []byte) (string, error) {
	const head = 1
	if len(key) != head+8+4 {
		return "", fmt.Errorf("key of %d bytes is no place in the outbox", len(key))
	}
	id := job.NoticeID{LSN: binary.BigEndian.Uint64(key[head:]), Seq: binary.BigEndian.Uint32(key[head+8:])}
	return id.String(), nil
}

// auditKey returns the id of an entry as the API has it.
func auditKey(key []byte) (string, error) {
	_, id, err := job.ParseAuditKey(key)
	return fmt.Sprintf("%d-%d", id.LSN, id.Seq), err
}

// labelKey returns the hash of a label and the name of a job that has it.
func labelKey(key []byte) (string, error) {
	label, name, err := job.ParseLabelKey(key)
	return fmt.Sprintf("%016x %s", uint64(label), name), err
}

// traitKey returns a trait and a job that has it.
func traitKey(key []byte) (string, error) {
	trait, id, err := job.ParseTraitKey(key)
	return fmt.Sprintf("%s %s", trait, id), err
}
