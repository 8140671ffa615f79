package api

import (
	"encoding/base64"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Jobs are written member by member, as they are read. With reflection, a registration would spend more on its reply
// than on anything else except the network.

// jobReply returns the reply with a job, or the error.
func (x *Executor) jobReply(v scheduler.JobView, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return x.jobMessage(masked(&v), `}`)
}

// jobMessage writes an object with a job as its first member, followed by tail. If the message becomes too large, the
// job's payload is left out. The caller sees payload_omitted in that case, and a put of the shown job is refused
// because of it, so the payload cannot get lost that way.
func (x *Executor) jobMessage(v shown, tail string) (*jobText, error) {
	const usual = 1 << 10
	b := make([]byte, 0, usual+len(v.def.Payload))
	for _, hasPayload := range []bool{!v.noPayload, false} {
		b = append(b[:0], `{"job":`...)
		b = appendJob(b, v, hasPayload)
		b = append(b, tail...)
		if len(b) <= x.replyBytesMax() {
			return &jobText{text: b, name: v.def.Name, version: v.Version}, nil
		}
	}
	return nil, x.tooLarge(len(b))
}

// jobText is an encoded reply with a job, and what HTTP headers say about that job. It is encoded before it reaches
// encode, because its size decides whether the payload is in it.
type jobText struct {
	text    jsontext.Value
	name    string
	version uint32
	// created is set by put alone: other replies with a job never create one.
	created bool
}

// appendJob writes a [client.JobInfo]. It must agree with that type, member by member; a test decodes what it writes.
func appendJob(b []byte, v shown, hasPayload bool) []byte {
	b = append(b, '{')
	b = appendDefinition(b, v.def, hasPayload)
	b = append(v.ID.Append(append(b, `,"id":"`...)), '"')
	b = appendText(b, "tenant", v.def.Tenant)
	b = appendNumber(b, "version", v.Version)
	b = appendText(b, "status", v.Status)
	b = appendText(b, "status_reason", v.StatusReason)
	b = appendText(b, "status_by", v.StatusBy)
	b = appendTime(b, "next_run_at", v.NextRunAt)
	// Without jitter the two are equal, and one of them is enough.
	if v.NextLaunchAt != 0 && v.NextLaunchAt != v.NextRunAt {
		b = appendTime(b, "next_launch_at", v.NextLaunchAt)
	}
	b = appendLastRun(b, v.LastRun)
	b = appendTime(b, "created_at", v.CreatedAt)
	b = appendTime(b, "updated_at", v.UpdatedAt)
	if !hasPayload {
		b = append(b, `,"payload_omitted":true`...)
	}
	if v.masked {
		b = append(b, `,"credentials_masked":true`...)
	}
	return append(b, '}')
}

// appendDefinition writes the members of a [client.Job] in full. Defaults are written too, so that a caller sees what
// applies.
func appendDefinition(b []byte, d *job.Definition, hasPayload bool) []byte {
	b = appendQuoted(append(b, `"name":`...), d.Name)
	// A put refuses both members together, so only one of them is shown.
	if len(d.Schedules) == 0 {
		b = appendText(b, "schedule", d.Schedule)
	}
	b = appendLines(b, "schedules", d.Schedules)
	b = appendLines(b, "exclude", d.Exclude)
	b = appendText(b, "timezone", d.Timezone)
	b = appendTime(b, "starts_at", d.StartsAt)
	b = appendTime(b, "ends_at", d.EndsAt)
	b = appendNumber(b, "max_runs", d.MaxRuns)
	b = appendLength(b, "jitter", d.Jitter)
	b = appendTarget(b, d.Target)
	if hasPayload {
		b = appendPayload(b, d)
	}
	b = appendHeaders(b, d)
	b = appendText(b, "completion", d.Completion.String())
	b = appendLength(b, "attempt_timeout", d.AttemptTimeout)
	b = appendRetry(b, d.Retry)
	b = appendNumber(b, "pause_on_failure", d.PauseOnFailure)
	b = appendText(b, "overlap_policy", d.Overlap.String())
	b = appendNumber(b, "max_concurrent", d.MaxConcurrent)
	b = appendText(b, "missed_run_policy", d.Missed.String())
	b = appendLength(b, "catchup_window", d.CatchupWindow)
	b = appendNumber(b, "max_catchup_runs", d.MaxCatchupRuns)
	b = strconv.AppendBool(appendMember(b, "paused"), d.Paused)
	b = appendPairs(b, "labels", d.Labels)
	return appendText(b, "description", d.Description)
}

// appendTarget writes only the members that the kind of target has, because finishTarget refuses the others in a put.
func appendTarget(b []byte, t job.Target) []byte {
	b = appendQuoted(append(b, `,"target":{"kind":`...), t.Kind.String())
	for _, m := range [...]struct{ name, value string }{
		{"subject", t.Subject}, {"url", t.URL}, {"method", t.Method}, {"name", t.Handler},
	} {
		if m.value != "" {
			b = appendText(b, m.name, m.value)
		}
	}
	for _, m := range [...]struct {
		name string
		ref  job.SecretRef
	}{{"url", t.URLSecret}, {"sign", t.Sign}, {"client_cert", t.ClientCert}} {
		if m.ref != "" {
			b = appendSecret(appendMember(b, m.name), m.ref)
		}
	}
	if t.MaxInFlight > 0 {
		b = appendNumber(b, "max_in_flight", t.MaxInFlight)
	}
	return append(b, '}')
}

// appendPayload writes a JSON payload as it was sent, without the spaces between tokens, or a binary one in base64.
// A job without any payload has neither member. Whether the payload was JSON is stored with it, because bytes that
// happen to be JSON must come back as the caller wrote them: in base64.
func appendPayload(b []byte, d *job.Definition) []byte {
	switch {
	case d.PayloadJSON:
		b, _ = jsontext.AppendFormat(append(b, `,"payload":`...), d.Payload, jsontext.PreserveRawStrings(true)) // was valid when it arrived
	case d.Payload != nil:
		b = append(base64.StdEncoding.AppendEncode(append(b, `,"payload_base64":"`...), d.Payload), '"')
	}
	return b
}

// appendRetry writes a [client.Retry] as a member. Numbers are written with as many digits as they need to be read
// back exactly.
func appendRetry(b []byte, r job.Retry) []byte {
	b = strconv.AppendUint(append(b, `,"retry":{"max_attempts":`...), uint64(r.MaxAttempts), 10)
	b = appendLength(b, "initial_interval", r.InitialInterval)
	b = strconv.AppendFloat(appendMember(b, "multiplier"), r.Multiplier, 'g', -1, 64)
	b = appendLength(b, "max_interval", r.MaxInterval)
	b = appendLength(b, "max_age", r.MaxAge)
	b = strconv.AppendFloat(appendMember(b, "jitter"), r.Jitter, 'g', -1, 64)
	return append(strconv.AppendBool(appendMember(b, "client_errors"), r.ClientErrors), '}')
}

// appendLastRun writes a [client.LastRun] as a member; null if there is no run.
func appendLastRun(b []byte, r *job.Run) []byte {
	b = appendMember(b, "last_run")
	if r == nil {
		return append(b, `null`...)
	}
	b = appendQuoted(append(b, `{"id":`...), r.ID.String())
	b = appendText(b, "status", r.Status.String())
	b = appendTime(b, "scheduled_at", r.ID.At)
	b = strconv.AppendFloat(appendMember(b, "lateness_ms"), millis(r.Lateness), 'f', -1, 64)
	return append(b, '}')
}

// appendMember writes a comma, the name of a member, which must need no escapes, and the colon. The comma is
// unconditional: the first member of each object is written without this function.
func appendMember(b []byte, name string) []byte {
	return append(append(append(b, `,"`...), name...), `":`...)
}

// appendText writes a text as a member, also an empty one.
func appendText(b []byte, name, text string) []byte { return appendQuoted(appendMember(b, name), text) }

// appendQuoted writes a text as a JSON string. Invalid UTF-8, wherever it came from, is replaced, so that it cannot
// make a job unreadable.
func appendQuoted(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}

// appendNumber writes a number as a member.
func appendNumber(b []byte, name string, n uint32) []byte {
	return strconv.AppendUint(appendMember(b, name), uint64(n), 10)
}

// appendTime writes an instant as a member, or null for none: the member is there in either case, so that callers
// need not tell absent from null.
func appendTime(b []byte, name string, t instant.Millis) []byte {
	if b = appendMember(b, name); t == 0 {
		return append(b, `null`...)
	}
	return append(t.Append(append(b, '"')), '"')
}

// appendLength writes a duration as a member, in the form that requests have.
func appendLength(b []byte, name string, d time.Duration) []byte {
	b, _ = client.Duration(d).AppendText(append(appendMember(b, name), '"')) // cannot fail
	return append(b, '"')
}

// appendLines writes a list of texts as a member; nothing for an empty list.
func appendLines(b []byte, name string, texts []string) []byte {
	if len(texts) == 0 {
		return b
	}
	b = append(appendMember(b, name), '[')
	for i, t := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, t)
	}
	return append(b, ']')
}

// appendPairs writes pairs as an object. They are sorted, so equal pairs have equal bytes.
func appendPairs(b []byte, name string, pairs []job.Pair) []byte {
	b = append(appendMember(b, name), '{')
	for i, p := range pairs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(append(appendQuoted(b, p.Key), ':'), p.Value)
	}
	return append(b, '}')
}
