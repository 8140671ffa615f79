package main

import (
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// rowKinds is how each kind of row is shown.
var rowKinds = map[job.Kind]rowKind{
	job.KindMeta:    {"meta", textKey, metaFields},
	job.KindProfile: {"profile", profileKey, profileFields},
	job.KindJob:     {"job", jobKey, recordFields},
	job.KindName:    {"name", nameKey, nameFields},
	job.KindTimer:   {"timer", jobKey, timerFields},
	job.KindRun:     {"run", runKey, runFields},
	job.KindHistory: {"history", runKey, runFields},
	job.KindNote:    {"note", jobKey, noteFields},
	job.KindOnce:    {"once", onceKey, onceFields},
	job.KindPayload: {"payload", runKey, payloadFields},
}

func textKey(key []byte) (string, error) { return string(key[1:]), nil }

func profileKey(key []byte) (string, error) {
	n, err := job.ParseProfileKey(key)
	return fmt.Sprint(n), err
}

func jobKey(key []byte) (string, error) {
	id, err := job.ParseJobKey(key)
	return id.String(), err
}

func nameKey(key []byte) (string, error) {
	tenant, name, err := job.ParseNameKey(key)
	return tenant + " " + name, err
}

func runKey(key []byte) (string, error) {
	id, err := job.ParseRunKey(key)
	return id.String(), err
}

// onceKey shows the idempotency key at the end of a row's key, behind day and job.
func onceKey(key []byte) (string, error) {
	const head = 1 + 4 + 8
	if len(key) < head {
		return "", fmt.Errorf("key of %d bytes is too short", len(key))
	}
	return fmt.Sprintf("%q", key[head:]), nil
}

func metaFields(_, value []byte) ([]field, error) {
	n, err := job.DecodeMeta(value)
	return []field{{"value", n}}, err
}

func profileFields(_, value []byte) ([]field, error) {
	p, err := job.DecodeProfile(value)
	return []field{
		{"schedule", p.Spec.Expr}, {"timezone", p.Spec.Zone},
		{"starts_at", p.Spec.StartsAt.String()}, {"ends_at", p.Spec.EndsAt.String()},
		{"overlap_policy", p.Overlap.String()}, {"missed_run_policy", p.Missed.String()},
		{"max_attempts", p.Retry.MaxAttempts},
	}, err
}

func recordFields(key, value []byte) ([]field, error) {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return nil, err
	}
	r, err := job.DecodeRecord(id, value)
	return []field{
		{"tenant", r.Def.Tenant}, {"name", r.Def.Name}, {"version", r.Version},
		{"schedule", r.Def.Schedule}, {"timezone", r.Def.Timezone},
		{"target", r.Def.Target.Kind.String()}, {"address", r.Def.Target.Address()},
		{"payload_bytes", len(r.Def.Payload)}, {"paused", r.Def.Paused},
		{"created_at", r.CreatedAt.String()}, {"updated_at", r.UpdatedAt.String()},
	}, err
}

func nameFields(_, value []byte) ([]field, error) {
	id, err := job.DecodeName(value)
	return []field{{"id", id.String()}}, err
}

func timerFields(_, value []byte) ([]field, error) {
	t, err := job.DecodeTimer(value)
	return []field{
		{"status", t.Flags.JobStatus()}, {"profile", t.Profile}, {"cursor", t.Cursor.String()},
		{"last", t.Last.String()}, {"version", t.Version}, {"runs", t.Runs}, {"manual", t.Manual},
	}, err
}

func runFields(key, value []byte) ([]field, error) {
	id, err := job.ParseRunKey(key)
	if err != nil {
		return nil, err
	}
	r, err := job.DecodeRun(id, value)
	return []field{
		{"scheduled_at", id.At.String()}, {"status", r.Status.String()}, {"reason", r.Reason.String()},
		{"until", r.Until.String()}, {"attempt", r.Attempt}, {"fence", r.Fence},
		{"due", r.Due.String()}, {"launched_at", r.LaunchedAt.String()}, {"finished_at", r.FinishedAt.String()},
		{"lateness", r.Lateness.String()}, {"duration", r.Duration.String()}, {"error", r.Error}, {"result", r.Result},
	}, err
}

func noteFields(_, value []byte) ([]field, error) {
	n, err := job.DecodeNote(value)
	return []field{{"at", n.At.String()}, {"reason", n.Reason}}, err
}

func onceFields(_, value []byte) ([]field, error) {
	id, err := job.DecodeOnce(value)
	return []field{{"run_id", id.String()}}, err
}

func payloadFields(_, value []byte) ([]field, error) {
	payload, isJSON, err := job.DecodePayload(value)
	return []field{{"bytes", len(payload)}, {"json", isJSON}}, err
}
