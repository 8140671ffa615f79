package api

import (
	"maps"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// putRequest is a job as it arrives. json and base64 are nil if the member is absent. Both point into the request or
// are decoded from it, and are merged into def by finish, once it is known that only one is there.
type putRequest struct {
	// def has the defaults of a job from the beginning, so a member that is absent keeps one.
	def    job.Definition
	json   []byte // member payload
	base64 []byte // member payload_base64
	// ifVersion is nil if any version will do, and 0 if the job must not exist yet.
	ifVersion *uint32
}

// replyOnly are the members that replies add to a job. Requests may contain them and they are ignored, so that a
// caller can put a job as it got it.
var replyOnly = []string{
	"id", "tenant", "version", "status", "status_reason", "status_by", "next_run_at", "next_launch_at", "last_run",
	"created_at", "updated_at", "credentials_masked",
}

// jobMembers are the members of a job. The order does not matter: what depends on several members is done in finish.
// A member that is missing here is refused as unknown, however well the engine supports it.
var jobMembers = withIgnored(object[putRequest]{
	"name":              text(func(p *putRequest) *string { return &p.def.Name }),
	"schedule":          text(func(p *putRequest) *string { return &p.def.Schedule }),
	"schedules":         lines(schedule.ExpressionsMax, func(p *putRequest) *[]string { return &p.def.Schedules }),
	"exclude":           lines(schedule.ExcludesMax, func(p *putRequest) *[]string { return &p.def.Exclude }),
	"timezone":          text(func(p *putRequest) *string { return &p.def.Timezone }),
	"starts_at":         timeField(func(p *putRequest) *instant.Millis { return &p.def.StartsAt }),
	"ends_at":           timeField(func(p *putRequest) *instant.Millis { return &p.def.EndsAt }),
	"max_runs":          whole(func(p *putRequest) *uint32 { return &p.def.MaxRuns }),
	"jitter":            length(func(p *putRequest) *time.Duration { return &p.def.Jitter }),
	"target":            nested(targetMembers, func(p *putRequest) *job.Target { return &p.def.Target }),
	"payload":           jsonValue(func(p *putRequest) *[]byte { return &p.json }),
	"payload_base64":    base64Value(func(p *putRequest) *[]byte { return &p.base64 }),
	"headers":           headers,
	"completion":        word(job.ParseCompletion, func(p *putRequest) *job.Completion { return &p.def.Completion }),
	"attempt_timeout":   length(func(p *putRequest) *time.Duration { return &p.def.AttemptTimeout }),
	"retry":             nested(retryMembers, func(p *putRequest) *job.Retry { return &p.def.Retry }),
	"pause_on_failure":  whole(func(p *putRequest) *uint32 { return &p.def.PauseOnFailure }),
	"max_concurrent":    whole(func(p *putRequest) *uint32 { return &p.def.MaxConcurrent }),
	"overlap_policy":    word(job.ParseOverlap, func(p *putRequest) *job.Overlap { return &p.def.Overlap }),
	"missed_run_policy": word(job.ParseMissed, func(p *putRequest) *job.Missed { return &p.def.Missed }),
	"catchup_window":    length(func(p *putRequest) *time.Duration { return &p.def.CatchupWindow }),
	"max_catchup_runs":  whole(func(p *putRequest) *uint32 { return &p.def.MaxCatchupRuns }),
	"paused":            boolean(func(p *putRequest) *bool { return &p.def.Paused }),
	"labels":            pairs(job.LabelsMax, func(p *putRequest) *[]job.Pair { return &p.def.Labels }),
	"description":       text(func(p *putRequest) *string { return &p.def.Description }),
})

// putMembers are the members of a job that is put alone. In a bulk registration if_version is unknown.
var putMembers = with(jobMembers, "if_version", func(r *reader, p *putRequest) error {
	p.ifVersion = new(uint32)
	return whole(func(p *putRequest) *uint32 { return p.ifVersion })(r, p)
})

// targetMembers are the members of all kinds of target. Which of them belong together is checked by finishTarget,
// after kind is known, because members may come in any order.
var targetMembers = object[job.Target]{
	"kind":    word(job.ParseTargetKind, func(t *job.Target) *job.TargetKind { return &t.Kind }),
	"subject": text(func(t *job.Target) *string { return &t.Subject }),
	"url":     url,
	"method":  text(func(t *job.Target) *string { return &t.Method }),
	"name":    text(func(t *job.Target) *string { return &t.Handler }),

	"max_in_flight": whole(func(t *job.Target) *uint32 { return &t.MaxInFlight }),
	"sign":          secret(func(t *job.Target) *job.SecretRef { return &t.Sign }),
	"client_cert":   secret(func(t *job.Target) *job.SecretRef { return &t.ClientCert }),
}

// retryMembers are the members of a retry policy. Those that are absent keep the defaults that newPutRequest set, so
// a caller can change one and leave the others.
var retryMembers = object[job.Retry]{
	"max_attempts":     whole(func(t *job.Retry) *uint32 { return &t.MaxAttempts }),
	"initial_interval": length(func(t *job.Retry) *time.Duration { return &t.InitialInterval }),
	"multiplier":       real(func(t *job.Retry) *float64 { return &t.Multiplier }),
	"max_interval":     length(func(t *job.Retry) *time.Duration { return &t.MaxInterval }),
	"max_age":          length(func(t *job.Retry) *time.Duration { return &t.MaxAge }),
	"jitter":           real(func(t *job.Retry) *float64 { return &t.Jitter }),
	"client_errors":    boolean(func(t *job.Retry) *bool { return &t.ClientErrors }),
}

// withIgnored adds the members of replies, whose values are skipped whatever their type. It changes its argument.
// It is applied once, when the package is initialised, before the table is shared by the goroutines of requests.
func withIgnored(o object[putRequest]) object[putRequest] {
	for _, name := range replyOnly {
		o[name] = func(r *reader, _ *putRequest) error {
			if err := r.dec.SkipValue(); err != nil {
				return r.broken(err)
			}
			return nil
		}
	}
	return o
}

// with returns the members of an object and one more. The copy keeps the tables apart: jobMembers stays without the
// member, because a bulk refuses it.
func with[T any](o object[T], name string, set setter[T]) object[T] {
	o = maps.Clone(o)
	o[name] = set
	return o
}

// newPutRequest returns a request with the defaults of a job. Reading then overwrites the members that are there.
// That way an absent member and a null one mean the default, and neither has to be remembered.
func newPutRequest(tenant string) putRequest {
	p := putRequest{def: job.Defaults()}
	p.def.Tenant = tenant
	return p
}

// finish checks what was read, and completes what depends on several members. The schedule is checked by the engine,
// which compiles it.
func (p *putRequest) finish(rules job.Rules) error {
	if p.json != nil && p.base64 != nil {
		return errTwoPayloads()
	}
	p.def.Payload, p.def.PayloadJSON = p.base64, false
	if p.json != nil {
		p.def.Payload, p.def.PayloadJSON = p.json, true
	}
	if err := finishTarget(&p.def.Target); err != nil {
		return err
	}
	return p.def.Validate(rules)
}

// errTwoPayloads returns the error for a request with both forms of a payload. It is the same for a put and a
// trigger.
func errTwoPayloads() error {
	return apierr.Errorf(apierr.InvalidField, "payload_base64", "excludes payload; want one of them")
}

// finishTarget refuses members that belong to another kind of target: their author expects something else than would
// happen. It also fills in the default method, which depends on the kind.
func finishTarget(t *job.Target) error {
	var subject, url, method, name string
	switch t.Kind {
	case job.TargetNATS, job.TargetRequest, job.TargetJetStream:
		url, method, name = t.URL+string(t.URLSecret), t.Method, t.Handler
	case job.TargetHTTP:
		subject, name = t.Subject, t.Handler
		if t.Method == "" {
			t.Method = "POST"
		}
	case job.TargetHandler:
		subject, url, method = t.Subject, t.URL+string(t.URLSecret), t.Method
	}
	for _, m := range [...]struct{ member, value string }{
		{"subject", subject}, {"url", url}, {"method", method}, {"name", name},
	} {
		if m.value != "" {
			return apierr.Errorf(apierr.InvalidTarget, "target."+m.member, "does not belong to a target of kind %q; leave it out, or change the kind", t.Kind)
		}
	}
	return nil
}
