package main

import (
	"strings"

	"github.com/carillon-io/carillon/job"
)

// The functions of this file return the fields of one kind of row (see rowKinds) in the order in which they are
// printed. They mask credentials, and show of a payload only its size. An error means that the row cannot be decoded.

// metaFields decodes a counter or a setting of the engine, each of which is one number.
func metaFields(_, value []byte) ([]field, error) {
	n, err := job.DecodeMeta(value)
	return []field{{"value", n}}, err
}

// profileFields decodes what many jobs share: a schedule with its policies.
func profileFields(_, value []byte) ([]field, error) {
	p, err := job.DecodeProfile(value)
	return []field{
		{"schedule", p.Spec.Expr}, {"timezone", p.Spec.Zone},
		{"starts_at", p.Spec.StartsAt.String()}, {"ends_at", p.Spec.EndsAt.String()},
		{"exclude", p.Spec.Exclude}, {"overlap_policy", p.Overlap.String()}, {"missed_run_policy", p.Missed.String()},
		{"max_attempts", p.Retry.MaxAttempts}, {"jitter_ms", int64(p.Jitter)}, {"report_within_ms", int64(p.ReportWithin)},
		{"max_concurrent", p.MaxConcurrent}, {"pause_on_failure", p.PauseOnFailure},
	}, err
}

// recordFields decodes the cold row of a job, without its headers, which may hold secrets.
func recordFields(key, value []byte) ([]field, error) {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return nil, err
	}
	r, err := job.DecodeRecord(id, value)
	return fieldsOfRecord(&r), err
}

// deletedFields decodes the row that keeps the cold row of a deleted job.
func deletedFields(key, value []byte) ([]field, error) {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return nil, err
	}
	r, err := job.DecodeDeleted(id, value)
	return fieldsOfRecord(&r), err
}

// fieldsOfRecord returns what is shown of a cold row.
func fieldsOfRecord(r *job.Record) []field {
	return []field{
		{"tenant", r.Def.Tenant}, {"name", r.Def.Name}, {"version", r.Version},
		{"schedule", r.Def.Schedule}, {"schedules", strings.Join(r.Def.Schedules, "\n")},
		{"exclude", strings.Join(r.Def.Exclude, "\n")}, {"timezone", r.Def.Timezone},
		{"target", r.Def.Target.Kind.String()}, {"address", job.MaskURL(r.Def.Target.Address())},
		{"secrets", secretsText(&r.Def)},
		{"payload_bytes", len(r.Def.Payload)}, {"paused", r.Def.Paused},
		{"created_at", r.CreatedAt.String()}, {"updated_at", r.UpdatedAt.String()},
	}
}

// secretsText returns the references of a definition, each after the member that has it.
func secretsText(d *job.Definition) string {
	var list []string
	add := func(member string, ref job.SecretRef) {
		if ref != "" {
			list = append(list, member+"="+string(ref))
		}
	}
	add("url", d.Target.URLSecret)
	add("sign", d.Target.Sign)
	add("client_cert", d.Target.ClientCert)
	for _, h := range d.SecretHeaders {
		add("headers."+h.Key, job.SecretRef(h.Value))
	}
	return strings.Join(list, " ")
}

// nameFields decodes the entry of a name, which leads to the id of its job.
func nameFields(_, value []byte) ([]field, error) {
	id, err := job.DecodeName(value)
	return []field{{"id", id.String()}}, err
}

// timerFields decodes the hot row of a job: its state, its cursor and its counters.
func timerFields(_, value []byte) ([]field, error) {
	t, err := job.DecodeTimer(value)
	return []field{
		{"status", t.Flags.JobStatus()}, {"profile", t.Profile}, {"cursor", t.Cursor.String()},
		{"last", t.Last.String()}, {"version", t.Version}, {"runs", t.Runs}, {"manual", t.Manual},
	}, err
}

// runFields decodes a run, live or in the history: both have the same form.
func runFields(key, value []byte) ([]field, error) {
	id, err := job.ParseRunKey(key)
	if err != nil {
		return nil, err
	}
	r, err := job.DecodeRun(id, value)
	return []field{
		{"scheduled_at", id.At.String()}, {"status", r.Status.String()}, {"reason", r.Reason.String()},
		{"until", r.Until.String()}, {"attempt", r.Attempt}, {"base", r.Base}, {"fence", r.Fence},
		{"due", r.Due.String()}, {"deadline", r.Deadline.String()}, {"stale_reports", r.Stale}, {"launched_at", r.LaunchedAt.String()}, {"finished_at", r.FinishedAt.String()},
		{"lateness", r.Lateness.String()}, {"duration", r.Duration.String()}, {"error", job.MaskText(r.Error)}, {"result", r.Result},
		{"dismissed_at", r.Dismissal.At.String()}, {"dismissed_by", r.Dismissal.By}, {"dismiss_reason", r.Dismissal.Reason},
	}, err
}

// noteFields decodes why a job is in its state, and who put it there.
func noteFields(_, value []byte) ([]field, error) {
	n, err := job.DecodeNote(value)
	return []field{{"at", n.At.String()}, {"reason", n.Reason}, {"by", n.By}}, err
}

// onceFields decodes the run that an idempotency key started.
func onceFields(_, value []byte) ([]field, error) {
	id, err := job.DecodeOnce(value)
	return []field{{"run_id", id.String()}}, err
}

// payloadFields decodes the payload of a run that has another one than its job.
func payloadFields(_, value []byte) ([]field, error) {
	payload, isJSON, err := job.DecodePayload(value)
	return []field{{"bytes", len(payload)}, {"json", isJSON}}, err
}

// noFields is for rows whose key says all.
func noFields(_, _ []byte) ([]field, error) { return nil, nil }

// streakFields decodes how many runs of a job in a row are dead.
func streakFields(_, value []byte) ([]field, error) {
	n, err := job.DecodeStreak(value)
	return []field{{"runs", n}}, err
}

// debtFields decodes the ranges of missed ticks that are still to be fired.
func debtFields(_, value []byte) ([]field, error) {
	ranges, err := job.DecodeDebt(value)
	texts := make([]string, len(ranges))
	for i, d := range ranges {
		if texts[i] = d.From.String(); d.Last != d.From {
			texts[i] += "/" + d.Last.String()
		}
	}
	return []field{{"ticks", strings.Join(texts, " ")}}, err
}

// noticeFields decodes a change of a run that is still to be published.
func noticeFields(key, value []byte) ([]field, error) {
	n, err := job.DecodeNotice(key, value)
	return []field{
		{"run_id", n.Run.String()}, {"at", n.At.String()}, {"status", n.Status.String()}, {"reason", n.Reason.String()},
		{"until", n.Until.String()}, {"attempt", n.Attempt}, {"fence", n.Fence}, {"error", job.MaskText(n.Error)},
		{"dead_letter", n.Dead}, {"event", n.Event},
	}, err
}

// auditFields decodes an entry of the audit log. Of the two definitions it shows the sizes only.
func auditFields(key, value []byte) ([]field, error) {
	_, id, err := job.ParseAuditKey(key)
	if err != nil {
		return nil, err
	}
	e, err := job.DecodeAudit(id, value)
	owner := ""
	if e.Job != 0 {
		owner = e.Job.String()
	}
	return []field{
		{"at", e.At.String()}, {"action", e.Action.String()}, {"by", e.Actor.By}, {"from", e.Actor.From},
		{"tenant", e.Tenant}, {"name", e.Name}, {"job", owner}, {"detail", e.Detail},
		{"before_bytes", len(e.Before)}, {"after_bytes", len(e.After)},
	}, err
}

// calendarFields decodes a calendar, with its lines as one text.
func calendarFields(key, value []byte) ([]field, error) {
	c, err := job.DecodeCalendar(key, value)
	return []field{
		{"version", c.Version}, {"exclude", strings.Join(c.Exclude, "\n")}, {"description", c.Description},
		{"updated_at", c.UpdatedAt.String()},
	}, err
}
