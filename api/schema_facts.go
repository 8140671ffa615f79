package api

import (
	stdjson "encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler"
)

// leaves are the schemas of types that are not described by their fields. The lengths of texts are bounded in bytes,
// which a schema cannot express: it allows the same number of characters, and a character has at least one byte.
var leaves = map[reflect.Type]Schema{
	reflect.TypeFor[client.Time]():        {"type": []string{"string", "null"}, "format": "date-time"},
	reflect.TypeFor[client.Duration]():    {"type": "string", "minLength": 2, "pattern": `^([0-9]+d)?([0-9]+([.][0-9]*)?(ns|us|µs|ms|s|m|h))*$`},
	reflect.TypeFor[stdjson.RawMessage](): {},
	reflect.TypeFor[[]byte]():             {"type": "string", "contentEncoding": "base64"},
	reflect.TypeFor[map[string]string]():  {"type": "object", "additionalProperties": Schema{"type": "string"}},
	reflect.TypeFor[client.Headers](): {"type": "object", "additionalProperties": Schema{
		"type": []string{"string", "object"}, "properties": secretMember, "required": []string{"secret"}, "additionalProperties": false,
	}},
	reflect.TypeFor[client.Secret](): {
		"type": "object", "properties": secretMember, "required": []string{"secret"}, "additionalProperties": false,
	},
	reflect.TypeFor[map[string]uint64](): {"type": "object", "additionalProperties": Schema{"type": "integer", "minimum": 0}},
	reflect.TypeFor[client.Outcome]():    enumOf("succeeded", "failed"),
	reflect.TypeFor[client.Code]():       enumOf(allCodes()...),
}

// secretMember is the member of a reference to a secret.
var secretMember = Schema{"secret": Schema{
	"type": "string", "maxLength": job.TenantBytesMax + 1 + job.SecretNameBytesMax, "pattern": "^[A-Za-z0-9_-]+/[A-Za-z0-9_-][A-Za-z0-9._-]*$",
}}

// requestNeeds are the members that the parts of requests must have.
var requestNeeds = map[reflect.Type]struct{ all, oneOf []string }{
	reflect.TypeFor[client.Job]():    {[]string{"name", "target"}, []string{"schedule", "schedules"}},
	reflect.TypeFor[client.Target](): {[]string{"kind"}, nil},
}

// neverNull are the types whose pointers are never null in replies.
var neverNull = map[reflect.Type]bool{reflect.TypeFor[client.ErrorReply](): true}

// inRequests are facts about members that mean the same in every request. Entries of facts take precedence.
var inRequests = map[string]Schema{
	"name":        {"minLength": 1, "maxLength": job.NameBytesMax, "pattern": "^[A-Za-z0-9._/-]*$"},
	"limit":       {"minimum": 1, "maximum": scheduler.PageMax},
	"if_version":  {"minimum": 1},
	"fence":       {"minimum": 1},
	"schedule":    {"maxLength": schedule.ExprBytesMax, "examples": []string{"0 8 * * 1-5", "@every 10s", "@at 2026-12-01T08:00:00Z", "@in 10m"}},
	"schedules":   {"maxItems": schedule.ExpressionsMax},
	"exclude":     {"maxItems": schedule.ExcludesMax},
	"description": {"maxLength": job.DescriptionBytesMax},
	"labels":      {"maxProperties": job.LabelsMax},
	"headers":     {"maxProperties": job.HeadersMax},
}

// httpMethods are the methods of targets of kind http, the default first.
var httpMethods = []string{"POST", "PUT", "PATCH", "DELETE", "GET"}

// onlyInRequests are facts about members that mean something else in requests than in replies. An empty method counts
// as absent, like the other members of a target; handlers are only for programs that embed the engine.
var onlyInRequests = map[reflect.Type]map[string]Schema{
	reflect.TypeFor[client.Target](): {
		"kind":   enumOf("nats", "request", "jetstream", "http"),
		"method": enumOf(append([]string{""}, httpMethods...)...),
	},
}

// facts are what Go types cannot express about members, by the struct that declares them. The bounds are the
// constants that validation uses, so that the two cannot differ.
var facts = map[reflect.Type]map[string]Schema{
	reflect.TypeFor[client.Job](): {
		"completion":        words(func(n uint8) string { return job.Completion(n).String() }),
		"overlap_policy":    words(func(n uint8) string { return job.Overlap(n).String() }),
		"missed_run_policy": words(func(n uint8) string { return job.Missed(n).String() }),
		"pause_on_failure":  {"maximum": job.PauseOnFailureMax},
		"max_concurrent":    {"maximum": job.MaxConcurrentMax},
		"max_catchup_runs":  {"maximum": job.CatchupRunsMax},
	},
	reflect.TypeFor[client.Target](): {
		"max_in_flight": {"maximum": job.MaxInFlightMax},
		"kind":          words(func(n uint8) string { return job.TargetKind(n).String() }),
		"subject":       {"maxLength": job.SubjectBytesMax},
		"url": { // a text, or a reference to a secret
			"type": []string{"string", "object"}, "maxLength": job.URLBytesMax,
			"properties": secretMember, "required": []string{"secret"}, "additionalProperties": false,
		},
		"name":   {"maxLength": job.HandlerBytesMax},
		"method": enumOf(httpMethods...),
	},
	reflect.TypeFor[client.Retry](): {
		"max_attempts": {"minimum": 1, "maximum": job.RetryAttemptsMax},
		"multiplier":   {"minimum": 1, "maximum": job.MultiplierMax},
		"jitter":       {"minimum": 0, "maximum": 1},
	},
	reflect.TypeFor[client.PutRequest]():     {"if_version": {"minimum": 0}},
	reflect.TypeFor[client.PutManyRequest](): {"jobs": {"maxItems": BulkJobsMax}},
	reflect.TypeFor[client.ListRequest](): {
		"prefix": {"maxLength": job.NameBytesMax}, "status": enumOf(jobStatuses...), "last_run": enumOf(lastRunFailed),
		"contains": {"maxLength": job.NameBytesMax}, "target": {"maxLength": job.SubjectBytesMax},
	},
	reflect.TypeFor[client.PauseRequest]():       {"reason": {"maxLength": job.ReasonBytesMax}},
	reflect.TypeFor[client.TriggerRequest]():     {"idempotency_key": {"minLength": 1, "maxLength": job.IdempotencyKeyMax}},
	reflect.TypeFor[client.DismissRequest]():     {"reason": {"maxLength": job.ReasonBytesMax}},
	reflect.TypeFor[client.DismissManyRequest](): {"reason": {"maxLength": job.ReasonBytesMax}},
	reflect.TypeFor[client.BackfillRequest](): {
		"limit": {"minimum": 1, "maximum": scheduler.BackfillMax},
	},
	reflect.TypeFor[client.RunListRequest](): {"status": runStatuses},
	reflect.TypeFor[client.ReportRequest]():  {"result": {"maxLength": job.ResultBytesMax}, "error": {"maxLength": job.ErrorBytesMax}},
	reflect.TypeFor[client.CalendarRequest](): {
		"exclude": {"maxItems": job.CalendarLinesMax},
	},
	reflect.TypeFor[client.AuditRequest](): {"name": {"maxLength": job.NameBytesMax}, "action": auditActions, "by": {"maxLength": job.ActorBytesMax}},
	reflect.TypeFor[client.NextRequest]():  {"count": {"minimum": 1, "maximum": schedule.PreviewMax}},

	reflect.TypeFor[client.JobInfo]():    {"status": enumOf(jobStatuses...)},
	reflect.TypeFor[client.LastRun]():    {"status": runStatuses},
	reflect.TypeFor[client.Run]():        {"status": runStatuses, "reason": words(func(n uint8) string { return job.Reason(n).String() })},
	reflect.TypeFor[client.AuditEntry](): {"action": auditActions},
}

var (
	// The words of a state are the same in requests and in replies.
	runStatuses  = words(func(n uint8) string { return job.Status(n).String() })
	auditActions = words(func(n uint8) string { return job.Action(n).String() })
)

// enumOf is the schema of a text that is one of some words.
func enumOf(words ...string) Schema { return Schema{"type": "string", "enum": words} }

// words is an enum of the words of a type in package job, whose values count from 1. It stops at the first number
// without a word, so a new word of package job appears in the schemas by itself.
func words(of func(n uint8) string) Schema {
	var list []string
	for n := uint8(1); of(n) != "unknown" && n != 0; n++ {
		list = append(list, of(n))
	}
	return enumOf(list...)
}

// allCodes are the codes of refusals: those of the verbs and those that exist only over HTTP. They are sorted
// because the two tables are maps, and descriptions must be equal from start to start.
func allCodes() []string {
	codes := make(map[string]bool)
	for code := range statusOf {
		codes[string(code)] = true
	}
	for code := range statusOfHTTP {
		codes[string(code)] = true
	}
	return slices.Sorted(maps.Keys(codes))
}
