package apitest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// BadRequests lists what must be refused, by what is wrong with it. A new member or verb gets its bad requests in
// the function of its kind, and so is checked over every way in.
func BadRequests() []BadRequest {
	return slices.Concat(
		badSyntax(), badMembers(), badValues(), badSchedules(), badTargets(), badSecrets(), badQueries(), badChanges(),
		badReports(), badRunChanges(), badCalendars(), badAudits(),
	)
}

// badPut is a bad jobs.put.
func badPut(name, body string, code client.Code, field string) BadRequest {
	return BadRequest{name, "jobs.put", body, code, field, badStatus(code)}
}

// bad is a bad request of another verb.
func bad(name, verb, body string, code client.Code, field string) BadRequest {
	return BadRequest{name, verb, body, code, field, badStatus(code)}
}

// badStatus is the table of the contract, written down a second time. A table that the tests took from the code
// would agree with any mistake in it. Codes that are not listed are those of values, with 422.
func badStatus(code client.Code) int {
	switch code {
	case client.CodeInvalidJSON, client.CodeUnknownField:
		return 400
	case client.CodeNotFound:
		return 404
	case client.CodeAlreadyExists, client.CodeVersionConflict:
		return 409
	case client.CodeTooLarge:
		return 413
	default:
		return 422
	}
}

// badSyntax lists requests that are no JSON, or JSON on whose meaning libraries disagree, such as duplicate
// members.
func badSyntax() []BadRequest {
	const code = client.CodeInvalidJSON
	return []BadRequest{
		// Texts that are not JSON. Most break off before a member is known, so the error names no field.
		badPut("nothing", "", code, ""),
		badPut("spaces", "  \n", code, ""),
		badPut("no JSON", "name=new", code, ""),
		badPut("cut", `{"name":"new"`, code, ""),
		badPut("cut in a string", `{"name":"ne`, code, ""),
		badPut("single quotes", `{'name':'new'}`, code, ""),
		badPut("trailing comma", `{"name":"new",}`, code, ""),
		badPut("comment", `{"name":"new"/**/}`, code, ""),
		badPut("two values", JobWith()+JobWith(), code, ""),
		badPut("garbage behind", JobWith()+" x", code, ""),
		badPut("not a number", JobWith("max_runs", "NaN"), code, "max_runs"),
		badPut("leading zero", JobWith("max_runs", "01"), code, ""),
		// Texts that some parsers repair in silence. Two readers of the same request would then see two jobs.
		badPut("invalid UTF-8", JobWith("description", "\"\xff\xfe\""), code, "description"),
		badPut("invalid UTF-8 in a payload", JobWith("payload", "[\"\xc0\xaf\"]"), code, "payload.0"),
		badPut("half a surrogate", JobWith("description", `"\ud800"`), code, "description"),
		badPut("control character", JobWith("description", "\"a\nb\""), code, "description"),
		badPut("twice the same member", `{"name":"a","name":"b"}`, code, "name"),
		badPut("twice the same, escaped", `{"name":"a","na\u006de":"b"}`, code, "name"),
		badPut("twice the same, nested", JobWith("retry", `{"multiplier":2,"multiplier":3}`), code, "retry.multiplier"),
		badPut("twice the same in a payload", JobWith("payload", `{"a":1,"a":2}`), code, "payload.a"),
		badPut("twice the same header", JobWith("headers", `{"X-A":"1","X-A":"2"}`), code, "headers.X-A"),
		badPut("deep payload", JobWith("payload", strings.Repeat("[", 101)+strings.Repeat("]", 101)), code, "payload"),
		// Deep enough for the bound of the parser itself, which is far above that of a payload.
		bad("deeper than any parser likes", "jobs.trigger", `{"name":"bad-input-1","payload":`+strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)+`}`,
			code, apierr.Clip("payload"+strings.Repeat(".0", 9998))),
		bad("byte order mark", "jobs.get", "\ufeff{}", code, ""),
		bad("empty get", "jobs.get", "", code, ""),
	}
}

// badMembers lists JSON with members that do not exist or have the wrong type: each could be a typo that would
// change a schedule if it were ignored.
func badMembers() []BadRequest {
	unknown, wrong := client.CodeUnknownField, client.CodeInvalidField
	return []BadRequest{
		badPut("misspelled", JobWith("shedule", `"@daily"`), unknown, "shedule"),
		badPut("other case", JobWith("Name", `"new"`), unknown, "Name"),
		badPut("unknown, nested", JobWith("retry", `{"max_attempt":3}`), unknown, "retry.max_attempt"),
		badPut("unknown, in the target", JobWith("target", `{"kind":"nats","subject":"a","queue":"q"}`), unknown, "target.queue"),
		badPut("empty name of a member", JobWith("", `1`), unknown, ""),
		badPut("job without its payload", JobWith("payload_omitted", `true`), unknown, "payload_omitted"),
		bad("unknown in a list", "jobs.list", `{"page":2}`, unknown, "page"),
		bad("unknown in a status", "status", `{"verbose":true}`, unknown, "verbose"),
		bad("unknown in whoami", "whoami", `{"name":"ci"}`, unknown, "name"),
		bad("version in a bulk registration", "jobs.put_many", `{"if_version":0,"jobs":[]}`, unknown, "if_version"),
		// From here on each member exists and has the wrong type, at any depth.
		badPut("list", `[]`, wrong, ""),
		badPut("text", `"job"`, wrong, ""),
		badPut("null", `null`, wrong, ""),
		badPut("name is a number", JobWith("name", "5"), wrong, "name"),
		badPut("target is a text", JobWith("target", `"nats:out.new"`), wrong, "target"),
		badPut("subject is a list", JobWith("target", `{"kind":"nats","subject":["a"]}`), wrong, "target.subject"),
		badPut("paused is a text", JobWith("paused", `"true"`), wrong, "paused"),
		badPut("labels are a list", JobWith("labels", `["a"]`), wrong, "labels"),
		badPut("label is a number", JobWith("labels", `{"a":1}`), wrong, "labels.a"),
		badPut("header is null", JobWith("headers", `{"X-A":null}`), wrong, "headers.X-A"),
		badPut("retry is a number", JobWith("retry", `3`), wrong, "retry"),
		badPut("multiplier is a text", JobWith("retry", `{"multiplier":"2"}`), wrong, "retry.multiplier"),
		badPut("two payloads", JobWith("payload", `1`, "payload_base64", `"MQ=="`), wrong, "payload_base64"),
		badPut("no base 64", JobWith("payload_base64", `"%%%"`), wrong, "payload_base64"),
		bad("jobs are an object", "jobs.put_many", `{"jobs":{}}`, wrong, "jobs"),
		bad("jobs are missing", "jobs.put_many", `{}`, wrong, "jobs"),
	}
}

// badValues lists members of the right type with values beyond their bounds, just beyond them where there is a
// bound.
func badValues() []BadRequest {
	name, wrong, large := client.CodeInvalidName, client.CodeInvalidField, client.CodeTooLarge
	return []BadRequest{
		// A name is part of subjects and paths, hence the few characters that it may have.
		badPut("no name", JobWith("name", "-"), name, "name"),
		badPut("empty name", JobWith("name", `""`), name, "name"),
		badPut("long name", JobWith("name", `"`+strings.Repeat("n", 129)+`"`), name, "name"),
		badPut("space in the name", JobWith("name", `"a b"`), name, "name"),
		badPut("star in the name", JobWith("name", `"a*"`), name, "name"),
		badPut("umlaut in the name", JobWith("name", `"ä"`), name, "name"),
		badPut("NUL in the name", JobWith("name", `"a\u0000"`), name, "name"),
		badPut("start is no time", JobWith("starts_at", `"next week"`), wrong, "starts_at"),
		badPut("start is a number", JobWith("starts_at", `1764547200`), wrong, "starts_at"),
		badPut("start before time began", JobWith("starts_at", `"1970-01-01T00:00:00Z"`), wrong, "starts_at"),
		badPut("end before start", JobWith("starts_at", `"2100-01-01T00:00:00Z"`, "ends_at", `"2099-01-01T00:00:00Z"`), wrong, "ends_at"),
		badPut("duration is a number", JobWith("attempt_timeout", `30`), wrong, "attempt_timeout"),
		badPut("duration without unit", JobWith("attempt_timeout", `"30"`), wrong, "attempt_timeout"),
		badPut("negative duration", JobWith("catchup_window", `"-1h"`), wrong, "catchup_window"),
		badPut("endless duration", JobWith("catchup_window", `"999999999999d"`), wrong, "catchup_window"),
		badPut("fine duration", JobWith("attempt_timeout", `"10.5ms"`), wrong, "attempt_timeout"),
		badPut("no duration at all", JobWith("attempt_timeout", `"0s"`), wrong, "attempt_timeout"),
		badPut("negative runs", JobWith("max_runs", `-1`), wrong, "max_runs"),
		badPut("half a run", JobWith("max_runs", `1.5`), wrong, "max_runs"),
		badPut("too many runs", JobWith("max_runs", `4294967296`), wrong, "max_runs"),
		badPut("no attempt", JobWith("retry", `{"max_attempts":0}`), wrong, "retry.max_attempts"),
		badPut("shrinking intervals", JobWith("retry", `{"multiplier":0.5}`), wrong, "retry.multiplier"),
		badPut("infinite multiplier", JobWith("retry", `{"multiplier":1e999}`), wrong, "retry.multiplier"),
		badPut("intervals the wrong way", JobWith("retry", `{"initial_interval":"1m","max_interval":"1s"}`), wrong, "retry.max_interval"),
		badPut("much jitter", JobWith("jitter", `"25h"`), wrong, "jitter"),
		badPut("no such completion", JobWith("completion", `"guessed"`), wrong, "completion"),
		badPut("jitter of retries beyond the interval", JobWith("retry", `{"jitter":1.5}`), wrong, "retry.jitter"),
		badPut("negative jitter of retries", JobWith("retry", `{"jitter":-0.1}`), wrong, "retry.jitter"),
		badPut("client errors are a text", JobWith("retry", `{"client_errors":"yes"}`), wrong, "retry.client_errors"),
		badPut("many failures", JobWith("pause_on_failure", `1001`), wrong, "pause_on_failure"),
		badPut("concurrent but skipping", JobWith("max_concurrent", `2`), wrong, "max_concurrent"),
		badPut("many at a time", JobWith("overlap_policy", `"allow"`, "max_concurrent", `10001`), wrong, "max_concurrent"),
		badPut("no such policy", JobWith("overlap_policy", `"maybe"`), wrong, "overlap_policy"),
		badPut("no such missed policy", JobWith("missed_run_policy", `"all"`), wrong, "missed_run_policy"),
		badPut("much catching up", JobWith("max_catchup_runs", `100000`), wrong, "max_catchup_runs"),
		badPut("large payload", JobWith("payload", `"`+strings.Repeat("x", 256<<10)+`"`), large, "payload"),
		badPut("long description", JobWith("description", `"`+strings.Repeat("x", 1025)+`"`), large, "description"),
		badPut("large headers", JobWith("headers", `{"X-A":"`+strings.Repeat("x", 17<<10)+`"}`), large, "headers"),
		badPut("many headers", JobWith("headers", ManyPairs(65)), large, "headers"),
		badPut("many labels", JobWith("labels", ManyPairs(33)), large, "labels"),
		// Headers that would add another one, or take the place of one that the delivery itself sets.
		badPut("line break in a header", JobWith("headers", `{"X-A":"1\r\nX-B: 2"}`), wrong, "headers.X-A"),
		badPut("line break in a header's name", JobWith("headers", `{"X-A\r\nX-B":"1"}`), wrong, "headers.X-A\r\nX-B"),
		badPut("our header", JobWith("headers", `{"Carillon-Fence":"1"}`), wrong, "headers.Carillon-Fence"),
		badPut("header of NATS", JobWith("headers", `{"nats-msg-id":"1"}`), wrong, "headers.nats-msg-id"),
		badPut("header of HTTP", JobWith("headers", `{"Content-Length":"1"}`), wrong, "headers.Content-Length"),
		badPut("label with a space", JobWith("labels", `{"a b":"1"}`), wrong, "labels.a b"),
	}
}

// ManyPairs returns the members of an object with n entries.
func ManyPairs(n int) string {
	pairs := make([]string, n)
	for i := range pairs {
		pairs[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// badTargets lists targets that could reach what a job may not reach: the server's own subjects, those of NATS, and
// addresses of the server's network.
func badTargets() []BadRequest {
	const code = client.CodeInvalidTarget
	target := func(name, members, field string) BadRequest {
		return badPut(name, JobWith("target", "{"+members+"}"), code, "target."+field)
	}
	return []BadRequest{
		badPut("no target", JobWith("target", "-"), code, "target.kind"),
		target("no kind", `"subject":"a"`, "kind"),
		target("no such kind", `"kind":"mail","subject":"a"`, "kind"),
		target("handler outside", `"kind":"handler","name":"f"`, "kind"),
		// Subjects. A wildcard or a line break would reach more than one subject, or speak the protocol itself.
		target("no subject", `"kind":"nats"`, "subject"),
		target("star", `"kind":"nats","subject":"a.*"`, "subject"),
		target("everything", `"kind":"jetstream","subject":">"`, "subject"),
		target("empty token", `"kind":"request","subject":"a..b"`, "subject"),
		target("space", `"kind":"nats","subject":"a b"`, "subject"),
		target("protocol injection", `"kind":"nats","subject":"a\r\nPUB b 0\r\n"`, "subject"),
		target("system", `"kind":"request","subject":"$SYS.REQ.SERVER.PING"`, "subject"),
		target("JetStream", `"kind":"request","subject":"$JS.API.STREAM.DELETE.x"`, "subject"),
		target("inbox", `"kind":"nats","subject":"_INBOX.abc"`, "subject"),
		target("ourselves", `"kind":"request","subject":"$PREFIX.v1.default.jobs.delete"`, "subject"),
		// A member of another kind of target would have no effect, so it is taken for a mistake.
		target("url of nats", `"kind":"nats","subject":"a","url":"https://example.com"`, "url"),
		target("method of nats", `"kind":"nats","subject":"a","method":"POST"`, "method"),
		target("subject of http", `"kind":"http","url":"https://example.com","subject":"a"`, "subject"),
		target("name of nats", `"kind":"nats","subject":"a","name":"f"`, "name"),
		target("no url", `"kind":"http"`, "url"),
		target("file", `"kind":"http","url":"file:///etc/passwd"`, "url"),
		target("no host", `"kind":"http","url":"https:///x"`, "url"),
		target("password", `"kind":"http","url":"https://u:p@example.com"`, "url"),
		// Addresses that only the server's own machine or network can reach.
		target("loopback", `"kind":"http","url":"http://127.0.0.1:8222/"`, "url"),
		target("metadata", `"kind":"http","url":"http://169.254.169.254/latest"`, "url"),
		target("private", `"kind":"http","url":"http://10.0.0.1/"`, "url"),
		target("loopback, IPv6", `"kind":"http","url":"http://[::1]/"`, "url"),
		target("localhost", `"kind":"http","url":"http://localhost/"`, "url"),
		target("method", `"kind":"http","url":"https://example.com","method":"TRACE"`, "method"),
	}
}

// badQueries lists bad lists, reads and previews. A cursor is tried with every change that a caller could make to
// it.
func badQueries() []BadRequest {
	wrong, cron := client.CodeInvalidField, client.CodeInvalidSchedule
	return []BadRequest{
		bad("limit 0", "jobs.list", `{"limit":0}`, wrong, "limit"),
		bad("limit 1001", "jobs.list", `{"limit":1001}`, wrong, "limit"),
		bad("negative limit", "runs.list", `{"job":"bad-input-1","limit":-1}`, wrong, "limit"),
		bad("absurd limit", "jobs.list", `{"limit":1e99}`, wrong, "limit"),
		bad("limit is a text", "jobs.list", `{"limit":"10"}`, wrong, "limit"),
		bad("no such status", "jobs.list", `{"status":"done"}`, wrong, "status"),
		bad("no such status of a run", "runs.list", `{"job":"bad-input-1","status":"ok"}`, wrong, "status"),
		bad("long prefix", "jobs.list", `{"prefix":"`+strings.Repeat("p", 129)+`"}`, wrong, "prefix"),
		bad("long text in names", "jobs.list", `{"contains":"`+strings.Repeat("c", 129)+`"}`, wrong, "contains"),
		bad("long target", "jobs.list", `{"target":"`+strings.Repeat("t", 256)+`"}`, wrong, "target"),
		bad("no such last run", "jobs.list", `{"last_run":"succeeded"}`, wrong, "last_run"),
		bad("cursor of another text", "jobs.list", `{"contains":"bad","cursor":"$CURSOR"}`, wrong, "cursor"),
		bad("cursor of another target", "jobs.list", `{"target":"bad","cursor":"$CURSOR"}`, wrong, "cursor"),
		bad("cursor of other last runs", "jobs.list", `{"last_run":"failed","cursor":"$CURSOR"}`, wrong, "cursor"),
		bad("made-up cursor", "jobs.list", `{"cursor":"abc"}`, wrong, "cursor"),
		bad("cursor with blanks", "jobs.list", `{"cursor":"$CURSOR "}`, wrong, "cursor"),
		bad("cut cursor", "jobs.list", `{"cursor":"$CUT"}`, wrong, "cursor"),
		bad("tampered cursor", "jobs.list", `{"cursor":"$TAMPERED"}`, wrong, "cursor"),
		bad("cursor of another query", "jobs.list", `{"prefix":"bad","cursor":"$CURSOR"}`, wrong, "cursor"),
		bad("cursor of another tenant", "other jobs.list", `{"cursor":"$CURSOR"}`, wrong, "cursor"),
		bad("cursor of another list", "runs.list", `{"job":"bad-input-1","cursor":"$CURSOR"}`, wrong, "cursor"),
		bad("huge cursor", "jobs.list", `{"cursor":"`+strings.Repeat("A", 100_000)+`"}`, wrong, "cursor"),
		bad("no job", "runs.list", `{}`, client.CodeInvalidName, "job"),
		bad("runs of nothing", "runs.list", `{"job":"unknown"}`, client.CodeNotFound, "job"),
		bad("empty range", "runs.list", `{"job":"bad-input-1","from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, wrong, "from"),
		bad("no run id", "runs.get", `{"run_id":"1"}`, wrong, "run_id"),
		bad("no run", "runs.get", `{"run_id":"0000000000001-1764576000000"}`, client.CodeNotFound, "run_id"),
		bad("unknown job", "jobs.get", `{"name":"unknown"}`, client.CodeNotFound, "name"),
		bad("bad tenant", "ten$ant jobs.list", `{}`, wrong, "tenant"),
		bad("long tenant", strings.Repeat("t", 65)+" jobs.list", `{}`, wrong, "tenant"),
		bad("no count", "schedules.next", `{"schedule":"@daily","count":0}`, wrong, "count"),
		bad("large count", "schedules.next", `{"schedule":"@daily","count":1001}`, wrong, "count"),
		bad("bad preview", "schedules.next", `{"schedule":"every day"}`, cron, "schedule"),
		bad("bad zone of a preview", "schedules.next", `{"schedule":"@daily","timezone":"Berlin"}`, client.CodeInvalidTimezone, "timezone"),
	}
}

// badChanges lists changes of jobs that are absent, or have another version than the one that the caller demands.
func badChanges() []BadRequest {
	wrong, large := client.CodeInvalidField, client.CodeTooLarge
	return []BadRequest{
		badPut("exists", JobWith("name", `"bad-input-1"`, "if_version", `0`), client.CodeAlreadyExists, "name"),
		badPut("another version", JobWith("name", `"bad-input-1"`, "if_version", `7`), client.CodeVersionConflict, "if_version"),
		badPut("version of nothing", JobWith("if_version", `1`), client.CodeVersionConflict, "if_version"),
		badPut("negative version", JobWith("if_version", `-1`), wrong, "if_version"),
		badPut("version is a text", JobWith("if_version", `"1"`), wrong, "if_version"),
		bad("delete of another version", "jobs.delete", `{"name":"bad-input-1","if_version":7}`, client.CodeVersionConflict, "if_version"),
		bad("delete of a version of nothing", "jobs.delete", `{"name":"unknown","if_version":1}`, client.CodeNotFound, "name"),
		bad("delete of what is not there", "jobs.delete", `{"name":"bad-input-1","if_version":0}`, wrong, "if_version"),
		bad("pause of another version", "jobs.pause", `{"name":"bad-input-1","if_version":7}`, client.CodeVersionConflict, "if_version"),
		bad("pause of what is not there", "jobs.pause", `{"name":"bad-input-1","if_version":0}`, wrong, "if_version"),
		bad("resume of another version", "jobs.resume", `{"name":"bad-input-1","if_version":7}`, client.CodeVersionConflict, "if_version"),
		bad("resume of half a version", "jobs.resume", `{"name":"bad-input-1","if_version":1.5}`, wrong, "if_version"),
		bad("trigger of another version", "jobs.trigger", `{"name":"bad-input-1","if_version":7}`, client.CodeVersionConflict, "if_version"),
		bad("trigger of what is not there", "jobs.trigger", `{"name":"bad-input-1","if_version":0}`, wrong, "if_version"),
		bad("version of a backfill", "jobs.backfill", `{"name":"bad-input-1","if_version":1}`, client.CodeUnknownField, "if_version"),
		bad("delete of nothing", "jobs.delete", `{"name":"unknown"}`, client.CodeNotFound, "name"),
		bad("delete of a bad name", "jobs.delete", `{"name":"*"}`, client.CodeInvalidName, "name"),
		bad("pause of nothing", "jobs.pause", `{"name":"unknown"}`, client.CodeNotFound, "name"),
		bad("long reason", "jobs.pause", `{"name":"bad-input-1","reason":"`+strings.Repeat("x", 513)+`"}`, large, "reason"),
		bad("resume of nothing", "jobs.resume", `{"name":"unknown"}`, client.CodeNotFound, "name"),
		bad("trigger of nothing", "jobs.trigger", `{"name":"unknown"}`, client.CodeNotFound, "name"),
		bad("trigger with a large payload", "jobs.trigger", `{"name":"bad-input-1","payload":"`+strings.Repeat("x", 256<<10)+`"}`, large, "payload"),
		bad("trigger with a long key", "jobs.trigger", `{"name":"bad-input-1","idempotency_key":"`+strings.Repeat("k", 129)+`"}`, large, "idempotency_key"),
		bad("backfill without range", "jobs.backfill", `{"name":"bad-input-1"}`, wrong, "from"),
		bad("backfill without end", "jobs.backfill", `{"name":"bad-input-1","from":"2026-01-01T00:00:00Z"}`, wrong, "to"),
		bad("backfill the wrong way", "jobs.backfill", `{"name":"bad-input-1","from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, wrong, "from"),
		bad("backfill of the future", "jobs.backfill", `{"name":"bad-input-1","from":"2026-01-01T00:00:00Z","to":"2999-01-01T00:00:00Z"}`, wrong, "to"),
		bad("large backfill", "jobs.backfill", `{"name":"bad-input-1","from":"2025-01-01T00:00:00Z","to":"2026-01-01T00:00:00Z","limit":1000000}`, wrong, "limit"),
		bad("too many at once", "jobs.put_many", `{"jobs":[`+strings.Repeat("{},", 10_000)+`{}]}`, large, "jobs"),
		bad("broken among good ones", "jobs.put_many", `{"jobs":[`+JobWith()+`,{"name":"b",}]}`, client.CodeInvalidJSON, "jobs.1"),
	}
}
