package dashboard

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// formBody is the form of a job, with what was typed and what was wrong with it.
type formBody struct {
	Name, Schedule, Timezone, TargetKind, TargetAddress, Payload string
	Labels, Description, Overlap, Missed, MaxAttempts            string

	JSON    string // of the second form
	AsJSON  bool   // the second form was sent
	Version string // that is edited; "" for a new job
	Bytes   int    // of a payload that is no JSON, and is kept
	TooBig  bool   // the payload is not here, so that the job cannot be put

	Fields   map[string]string // what is wrong, by field
	Kinds    []choice
	Overlaps []choice
	Misses   []choice
	Zones    []string
}

// choice is an option of a list.
type choice struct{ Value, Text string }

var (
	targetKinds = []choice{
		{"nats", "nats: publish a message"}, {"request", "request: a message that is answered"},
		{"jetstream", "jetstream: publish to a stream"}, {"http", "http: call a URL"}, {"handler", "handler: a function of the program"},
	}
	overlaps = []choice{
		{"skip", "skip the new one"}, {"allow", "let both go on"}, {"buffer_one", "let one wait"},
		{"buffer_all", "let all wait"}, {"cancel_other", "cancel the old one"},
	}
	misses = []choice{{"fire_once", "fire once for all"}, {"skip", "leave them out"}, {"backfill", "make up for each"}}
)

// exampleJSON is what the second form begins with.
const exampleJSON = `{
  "name": "reports/daily",
  "schedule": "0 8 * * 1-5",
  "timezone": "Europe/Berlin",
  "target": {"kind": "nats", "subject": "reports.run"},
  "payload": {"report": "daily"},
  "labels": {"team": "billing"},
  "if_version": 0
}`

// formView is the page with the form.
func (v *visit) formView(body *formBody) view {
	body.Kinds, body.Overlaps, body.Misses, body.Zones = targetKinds, overlaps, misses, zones
	p := view{page: "form", title: "New job", active: "/new", body: body}
	if body.Version != "" {
		p.title, p.active = "Change "+body.Name, "/jobs"
	}
	return p
}

func (v *visit) register() view {
	return v.formView(&formBody{Name: v.query.Get("name"), Schedule: v.query.Get("schedule"), Timezone: v.query.Get("timezone"), JSON: exampleJSON})
}

func (v *visit) edit() view {
	name := v.query.Get("name")
	info, text, err := v.getJob(name)
	if err != nil {
		return view{page: "failed", title: "Change " + clip(name), active: "/jobs", err: err}
	}
	return v.formView(formOf(&info, text))
}

// formOf fills the form with a job.
func formOf(j *client.JobInfo, text string) *formBody {
	b := &formBody{
		Name: j.Name, Schedule: j.Schedule, Timezone: j.Timezone, TargetKind: j.Target.Kind, TargetAddress: addressOf(&j.Target),
		Payload: string(j.Payload), Labels: pairsText(j.Labels, "="), Description: j.Description,
		Overlap: j.OverlapPolicy, Missed: j.MissedRunPolicy, MaxAttempts: strconv.FormatUint(uint64(j.Retry.MaxAttempts), 10),
		Version: strconv.FormatUint(uint64(j.Version), 10), Bytes: len(j.PayloadBase64), TooBig: j.PayloadOmitted,
		JSON: withVersion(text, j.Version),
	}
	if len(j.Schedules) > 0 {
		b.Schedule = strings.Join(j.Schedules, "\n")
	}
	return b
}

// withVersion adds to the text of a job the condition that it is still at that version.
func withVersion(text string, version uint32) string {
	return strings.Replace(text, "{", "{\n  \"if_version\": "+strconv.FormatUint(uint64(version), 10)+",", 1)
}

// typed fills the form with what was sent.
func (v *visit) typed() *formBody {
	get := v.form.Get
	return &formBody{
		Name: get("name"), Schedule: get("schedule"), Timezone: get("timezone"), TargetKind: get("target_kind"), TargetAddress: get("target_address"),
		Payload: get("payload"), Labels: get("labels"), Description: get("description"),
		Overlap: get("overlap_policy"), Missed: get("missed_run_policy"), MaxAttempts: get("max_attempts"),
		JSON: get("json"), AsJSON: v.form.Has("json"), Version: get("if_version"),
	}
}

// lay writes what the form holds over a job. What the form does not have stays as it is.
func (b *formBody) lay(j *client.Job) error {
	j.Name, j.Timezone, j.Description = b.Name, b.Timezone, b.Description
	j.Schedule, j.Schedules = schedulesOf(b.Schedule)
	j.OverlapPolicy, j.MissedRunPolicy = b.Overlap, b.Missed
	j.Target = b.target(j.Target)
	labels, err := labelsOf(b.Labels)
	if err != nil {
		return err
	}
	j.Labels = labels
	if b.MaxAttempts != "" {
		n, err := strconv.ParseUint(b.MaxAttempts, 10, 32)
		if err != nil || n == 0 {
			return invalid("retry.max_attempts", "%q is no number of attempts; want 1 or more", clip(b.MaxAttempts))
		}
		j.Retry.MaxAttempts = uint32(n)
	}
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

// target returns the target that the form names; of one of the same kind it keeps the method and the places.
func (b *formBody) target(old client.Target) client.Target {
	t := client.Target{Kind: b.TargetKind}
	if t.Kind == old.Kind {
		t.MaxInFlight = old.MaxInFlight
	}
	switch b.TargetKind {
	case "http":
		t.URL, t.Method = b.TargetAddress, old.Method
	case "handler":
		t.Name = b.TargetAddress
	default:
		t.Subject = b.TargetAddress
	}
	return t
}

// labelsOf reads labels, each a line.
func labelsOf(text string) (map[string]string, error) {
	labels := make(map[string]string)
	for _, line := range linesOf(text) {
		key, value, found := strings.Cut(line, "=")
		if !found {
			return nil, invalid("labels", "%q has no value; want key=value, each in its line", clip(line))
		}
		labels[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return labels, nil
}

// formFields are the fields of the form by the members of the API that they become.
var formFields = []struct{ member, field string }{
	{"target.kind", "target_kind"}, {"target", "target_address"}, {"retry.max_attempts", "max_attempts"},
	{"schedule", "schedule"}, {"exclude", "exclude"}, {"labels", "labels"}, {"payload", "payload"},
}

// fieldErrors returns what is wrong by the field of a form that an error names.
func fieldErrors(err error) map[string]string {
	e := told(err)
	if e == nil || e.Field == "" {
		return nil
	}
	i := slices.IndexFunc(formFields, func(f struct{ member, field string }) bool { return strings.HasPrefix(e.Field, f.member) })
	if i < 0 {
		return map[string]string{e.Field: e.Message}
	}
	return map[string]string{formFields[i].field: e.Message}
}
