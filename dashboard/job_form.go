package dashboard

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// formBody is the content of the form of a job: what was typed, and the errors in it. Its fields are texts as the
// browser has them, so that a form that is refused shows what was typed and not what was understood.
type formBody struct {
	Name, Schedule, Timezone, TargetKind, TargetAddress, Payload string
	Exclude, Labels, Description, Overlap, Missed, MaxAttempts   string
	// StartsAt has a field only if it has a value: it comes from the playground.
	StartsAt string
	// keepsExclude: the form was sent without that field, and the exclusions of the job stay.
	keepsExclude bool

	JSON   string // text of the second form, the job as JSON
	AsJSON bool   // the second form was sent
	// Version comes back with the form, so a change that was made meanwhile is a conflict and is not overwritten.
	Version string // version of the job that is edited; "" for a new job
	Bytes   int    // size of a payload that is not JSON; the form keeps it unchanged
	TooBig  bool   // the job was read without its payload, so that it cannot be put

	Fields map[string]string // error texts by field
	// The choices are the same for every job; they are here because a template sees nothing else.
	Kinds    []choice
	Overlaps []choice
	Misses   []choice
	Zones    []string
}

// choice is an option of a select field. Value is the API's word.
type choice struct{ Value, Text string }

var (
	// The texts of the select fields. The values are the API's words, so a form needs no translation.
	targetKinds = []choice{
		{"nats", "nats: publish a message"}, {"request", "request: send a request and wait for the reply"},
		{"jetstream", "jetstream: publish to a stream"}, {"http", "http: call a URL"}, {"handler", "handler: a function of the program"},
	}
	// The default is first.
	overlaps = []choice{
		{"skip", "skip the new run"}, {"allow", "run both"}, {"buffer_one", "let one run wait"},
		{"buffer_all", "let all runs wait"}, {"cancel_other", "cancel the old run"},
	}
	misses = []choice{{"fire_once", "fire once for all of them"}, {"skip", "skip them"}, {"backfill", "fire each of them"}}
)

// exampleJSON is the initial text of the second form. Its if_version of 0 makes a put fail if the job exists: the
// form is for new jobs.
const exampleJSON = `{
  "name": "reports/daily",
  "schedule": "0 8 * * 1-5",
  "timezone": "Europe/Berlin",
  "target": {"kind": "nats", "subject": "reports.run"},
  "payload": {"report": "daily"},
  "labels": {"team": "billing"},
  "if_version": 0
}`

// formView returns the page with the form. It fills in the choices, which a form that comes back from the browser
// does not have.
func (v *visit) formView(body *formBody) view {
	body.Kinds, body.Overlaps, body.Misses, body.Zones = targetKinds, overlaps, misses, zones
	p := view{page: "form", title: "New job", active: "/new", body: body}
	if body.Version != "" {
		p.title, p.active = "Change "+body.Name, "/jobs"
	}
	return p
}

// register returns the form for a new job, filled with the query parameters, so that the playground can
// link to it.
func (v *visit) register() view {
	get := v.query.Get
	return v.formView(&formBody{
		Name: get("name"), Schedule: get("schedule"), Exclude: get("exclude"), Timezone: get("timezone"), StartsAt: get("starts_at"), JSON: exampleJSON,
	})
}

// edit returns the form for an existing job.
func (v *visit) edit() view {
	name := v.query.Get("name")
	info, text, err := v.getJob(name)
	if err != nil {
		return view{page: "failed", title: "Change " + clip(name), active: "/jobs", err: err}
	}
	return v.formView(formOf(&info, text))
}

// formOf returns the form filled with a job. text is the job's JSON. What the form has no field for stays in the job;
// see applyTo.
func formOf(j *client.JobInfo, text string) *formBody {
	b := &formBody{
		Name: j.Name, Schedule: j.Schedule, Timezone: j.Timezone, TargetKind: j.Target.Kind, TargetAddress: addressOf(&j.Target),
		Exclude: strings.Join(j.Exclude, "\n"), Payload: string(j.Payload), Labels: pairsText(j.Labels, "="), Description: j.Description,
		Overlap: j.OverlapPolicy, Missed: j.MissedRunPolicy, MaxAttempts: strconv.FormatUint(uint64(j.Retry.MaxAttempts), 10),
		Version: strconv.FormatUint(uint64(j.Version), 10), Bytes: len(j.PayloadBase64), TooBig: j.PayloadOmitted,
		JSON: withVersion(text, j.Version),
	}
	if len(j.Schedules) > 0 {
		b.Schedule = strings.Join(j.Schedules, "\n")
	}
	return b
}

// withVersion adds the member if_version to the JSON of a job, so that a put of it fails if the job has changed
// meanwhile. It inserts text and does not decode, so that the rest of the JSON stays as the API wrote it. text must
// be an object that is not empty.
func withVersion(text string, version uint32) string {
	return strings.Replace(text, "{", "{\n  \"if_version\": "+strconv.FormatUint(uint64(version), 10)+",", 1)
}

// typed returns the form filled with the values that the browser sent. The choices of the select fields are not
// among the values; formView adds them.
func (v *visit) typed() *formBody {
	get := v.form.Get
	return &formBody{
		Name: get("name"), Schedule: get("schedule"), Timezone: get("timezone"), TargetKind: get("target_kind"), TargetAddress: get("target_address"),
		Exclude: get("exclude"), StartsAt: get("starts_at"), Payload: get("payload"), Labels: get("labels"), Description: get("description"),
		Overlap: get("overlap_policy"), Missed: get("missed_run_policy"), MaxAttempts: get("max_attempts"),
		JSON: get("json"), AsJSON: v.form.Has("json"), Version: get("if_version"), keepsExclude: !v.form.Has("exclude"),
	}
}

// applyTo sets the fields of a job that the form has, and leaves the others unchanged. It checks only what the types
// of package client cannot hold; the server checks the rest, so that the rules exist once. A text that came back as it was
// shown stays as the job has it, with the spaces that browsers and lines do not keep. After an error the job may be changed
// in part.
func (b *formBody) applyTo(j *client.Job) error {
	shown := formOf(&client.JobInfo{Job: *j}, "")
	j.Name, j.Timezone = b.Name, b.Timezone
	if b.Description != cleanText(shown.Description) {
		j.Description = b.Description
	}
	j.Schedule, j.Schedules = schedulesOf(b.Schedule)
	if !b.keepsExclude {
		j.Exclude = linesOf(b.Exclude)
	}
	if b.StartsAt != "" {
		at, err := typed{get: func(string) string { return b.StartsAt }, in: utc}.instant("starts_at")
		if err != nil {
			return err
		}
		j.StartsAt = at
	}
	j.OverlapPolicy, j.MissedRunPolicy = b.Overlap, b.Missed
	j.Target = b.target(j.Target)
	if b.Labels != cleanText(shown.Labels) {
		labels, err := labelsOf(b.Labels)
		if err != nil {
			return err
		}
		j.Labels = labels
	}
	if b.MaxAttempts != "" {
		n, err := strconv.ParseUint(b.MaxAttempts, 10, 32)
		if err != nil || n == 0 {
			return invalid("retry.max_attempts", "%q is not a number of attempts; want 1 or more", clip(b.MaxAttempts))
		}
		j.Retry.MaxAttempts = uint32(n)
	}
	// An empty field removes a JSON payload and leaves a binary one, which the form cannot show.
	switch {
	case b.Payload == "":
		j.Payload = nil
	case !json.Valid([]byte(b.Payload)):
		return errNoJSON()
	default:
		j.Payload, j.PayloadBase64 = json.RawMessage(b.Payload), nil
	}
	return nil
}

// target returns the target in the form. If the old target has the same kind, it keeps the old method,
// max_in_flight, sign and client_cert, which the form does not have.
func (b *formBody) target(old client.Target) client.Target {
	t := client.Target{Kind: b.TargetKind}
	if t.Kind == old.Kind {
		t.MaxInFlight, t.Sign, t.ClientCert = old.MaxInFlight, old.Sign, old.ClientCert
	}
	switch b.TargetKind {
	case "http":
		t.URL, t.Method = b.TargetAddress, old.Method
		// No URL is a JSON object. One that is no reference stays as it is, and the server refuses it.
		if strings.HasPrefix(t.URL, "{") && json.Unmarshal([]byte(t.URL), &t.URLSecret) == nil && t.URLSecret.Name != "" {
			t.URL = ""
		}
	case "handler":
		t.Name = b.TargetAddress
	default:
		t.Subject = b.TargetAddress
	}
	return t
}

// labelsOf parses labels, one key=value in each line.
func labelsOf(text string) (map[string]string, error) {
	labels := make(map[string]string)
	for _, line := range linesOf(text) {
		key, value, found := strings.Cut(line, "=")
		if !found {
			return nil, invalid("labels", "%q has no value; want key=value, one per line", clip(line))
		}
		labels[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return labels, nil
}

// formFields maps members of the API to the fields of the form that hold them. A member matches by its prefix, so the
// longer ones come first.
var formFields = []struct{ member, field string }{
	{"target.kind", "target_kind"}, {"target", "target_address"}, {"retry.max_attempts", "max_attempts"},
	{"schedule", "schedule"}, {"exclude", "exclude"}, {"labels", "labels"}, {"payload", "payload"},
}

// fieldErrors returns the message of an error under the field of the form that the error names. An error at a
// member that the form has no field for is shown above the form only.
func fieldErrors(err error) map[string]string {
	e := publicError(err)
	if e == nil || e.Field == "" {
		return nil
	}
	i := slices.IndexFunc(formFields, func(f struct{ member, field string }) bool { return strings.HasPrefix(e.Field, f.member) })
	if i < 0 {
		return map[string]string{e.Field: e.Message}
	}
	return map[string]string{formFields[i].field: e.Message}
}
