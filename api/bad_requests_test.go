package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// badRequests lists what must be refused, by what is wrong with it.
func badRequests() []badRequest {
	return slices.Concat(
		badSyntax(), badMembers(), badValues(), badSchedules(), badTargets(), badQueries(), badChanges(),
		badReports(), badRunChanges(), badCalendars(), badAudits(),
	)
}

// jobWith returns a job with some members in place of those of a good one; "-" leaves a member out.
func jobWith(members ...string) string {
	good := [][2]string{
		{"name", `"new"`}, {"schedule", `"0 0 1 1 *"`}, {"target", `{"kind":"nats","subject":"out.new"}`},
	}
	for i := 0; i < len(members); i += 2 {
		at := slices.IndexFunc(good, func(m [2]string) bool { return m[0] == members[i] })
		if at < 0 {
			good, at = append(good, [2]string{}), len(good)
		}
		good[at] = [2]string{members[i], members[i+1]}
	}
	var parts []string
	for _, m := range good {
		if m[1] != "-" {
			parts = append(parts, fmt.Sprintf("%q:%s", m[0], m[1]))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// badPut is a bad jobs.put.
func badPut(name, body string, code client.Code, field string) badRequest {
	return badRequest{name, "jobs.put", body, code, field, badStatus(code)}
}

// bad is a bad request of another verb.
func bad(name, verb, body string, code client.Code, field string) badRequest {
	return badRequest{name, verb, body, code, field, badStatus(code)}
}

// badStatus is the table of the contract, written down a second time.
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

func badSyntax() []badRequest {
	const code = client.CodeInvalidJSON
	return []badRequest{
		badPut("nothing", "", code, ""),
		badPut("spaces", "  \n", code, ""),
		badPut("no JSON", "name=new", code, ""),
		badPut("cut", `{"name":"new"`, code, ""),
		badPut("cut in a string", `{"name":"ne`, code, ""),
		badPut("single quotes", `{'name':'new'}`, code, ""),
		badPut("trailing comma", `{"name":"new",}`, code, ""),
		badPut("comment", `{"name":"new"/**/}`, code, ""),
		badPut("two values", jobWith()+jobWith(), code, ""),
		badPut("garbage behind", jobWith()+" x", code, ""),
		badPut("not a number", jobWith("max_runs", "NaN"), code, "max_runs"),
		badPut("leading zero", jobWith("max_runs", "01"), code, ""),
		badPut("invalid UTF-8", jobWith("description", "\"\xff\xfe\""), code, "description"),
		badPut("invalid UTF-8 in a payload", jobWith("payload", "[\"\xc0\xaf\"]"), code, "payload.0"),
		badPut("half a surrogate", jobWith("description", `"\ud800"`), code, "description"),
		badPut("control character", jobWith("description", "\"a\nb\""), code, "description"),
		badPut("twice the same member", `{"name":"a","name":"b"}`, code, "name"),
		badPut("twice the same, escaped", `{"name":"a","na\u006de":"b"}`, code, "name"),
		badPut("twice the same, nested", jobWith("retry", `{"multiplier":2,"multiplier":3}`), code, "retry.multiplier"),
		badPut("twice the same in a payload", jobWith("payload", `{"a":1,"a":2}`), code, "payload.a"),
		badPut("twice the same header", jobWith("headers", `{"X-A":"1","X-A":"2"}`), code, "headers.X-A"),
		badPut("deep payload", jobWith("payload", strings.Repeat("[", 101)+strings.Repeat("]", 101)), code, "payload"),
		bad("deeper than any parser likes", "jobs.trigger", `{"name":"bad-input-1","payload":`+strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)+`}`,
			code, apierr.Clip("payload"+strings.Repeat(".0", 9998))),
		bad("byte order mark", "jobs.get", "\ufeff{}", code, ""),
		bad("empty get", "jobs.get", "", code, ""),
	}
}

func badMembers() []badRequest {
	unknown, wrong := client.CodeUnknownField, client.CodeInvalidField
	return []badRequest{
		badPut("misspelled", jobWith("shedule", `"@daily"`), unknown, "shedule"),
		badPut("other case", jobWith("Name", `"new"`), unknown, "Name"),
		badPut("unknown, nested", jobWith("retry", `{"max_attempt":3}`), unknown, "retry.max_attempt"),
		badPut("unknown, in the target", jobWith("target", `{"kind":"nats","subject":"a","queue":"q"}`), unknown, "target.queue"),
		badPut("empty name of a member", jobWith("", `1`), unknown, ""),
		badPut("job without its payload", jobWith("payload_omitted", `true`), unknown, "payload_omitted"),
		bad("unknown in a list", "jobs.list", `{"page":2}`, unknown, "page"),
		bad("unknown in a status", "status", `{"verbose":true}`, unknown, "verbose"),
		bad("version in a bulk registration", "jobs.put_many", `{"if_version":0,"jobs":[]}`, unknown, "if_version"),
		badPut("list", `[]`, wrong, ""),
		badPut("text", `"job"`, wrong, ""),
		badPut("null", `null`, wrong, ""),
		badPut("name is a number", jobWith("name", "5"), wrong, "name"),
		badPut("target is a text", jobWith("target", `"nats:out.new"`), wrong, "target"),
		badPut("subject is a list", jobWith("target", `{"kind":"nats","subject":["a"]}`), wrong, "target.subject"),
		badPut("paused is a text", jobWith("paused", `"true"`), wrong, "paused"),
		badPut("labels are a list", jobWith("labels", `["a"]`), wrong, "labels"),
		badPut("label is a number", jobWith("labels", `{"a":1}`), wrong, "labels.a"),
		badPut("header is null", jobWith("headers", `{"X-A":null}`), wrong, "headers.X-A"),
		badPut("retry is a number", jobWith("retry", `3`), wrong, "retry"),
		badPut("multiplier is a text", jobWith("retry", `{"multiplier":"2"}`), wrong, "retry.multiplier"),
		badPut("two payloads", jobWith("payload", `1`, "payload_base64", `"MQ=="`), wrong, "payload_base64"),
		badPut("no base 64", jobWith("payload_base64", `"%%%"`), wrong, "payload_base64"),
		bad("jobs are an object", "jobs.put_many", `{"jobs":{}}`, wrong, "jobs"),
		bad("jobs are missing", "jobs.put_many", `{}`, wrong, "jobs"),
	}
}

func badValues() []badRequest {
	name, wrong, large := client.CodeInvalidName, client.CodeInvalidField, client.CodeTooLarge
	return []badRequest{
		badPut("no name", jobWith("name", "-"), name, "name"),
		badPut("empty name", jobWith("name", `""`), name, "name"),
		badPut("long name", jobWith("name", `"`+strings.Repeat("n", 129)+`"`), name, "name"),
		badPut("space in the name", jobWith("name", `"a b"`), name, "name"),
		badPut("star in the name", jobWith("name", `"a*"`), name, "name"),
		badPut("umlaut in the name", jobWith("name", `"ä"`), name, "name"),
		badPut("NUL in the name", jobWith("name", `"a\u0000"`), name, "name"),
		badPut("start is no time", jobWith("starts_at", `"next week"`), wrong, "starts_at"),
		badPut("start is a number", jobWith("starts_at", `1764547200`), wrong, "starts_at"),
		badPut("start before time began", jobWith("starts_at", `"1970-01-01T00:00:00Z"`), wrong, "starts_at"),
		badPut("end before start", jobWith("starts_at", `"2100-01-01T00:00:00Z"`, "ends_at", `"2099-01-01T00:00:00Z"`), wrong, "ends_at"),
		badPut("duration is a number", jobWith("attempt_timeout", `30`), wrong, "attempt_timeout"),
		badPut("duration without unit", jobWith("attempt_timeout", `"30"`), wrong, "attempt_timeout"),
		badPut("negative duration", jobWith("catchup_window", `"-1h"`), wrong, "catchup_window"),
		badPut("endless duration", jobWith("catchup_window", `"999999999999d"`), wrong, "catchup_window"),
		badPut("fine duration", jobWith("attempt_timeout", `"10.5ms"`), wrong, "attempt_timeout"),
		badPut("no duration at all", jobWith("attempt_timeout", `"0s"`), wrong, "attempt_timeout"),
		badPut("negative runs", jobWith("max_runs", `-1`), wrong, "max_runs"),
		badPut("half a run", jobWith("max_runs", `1.5`), wrong, "max_runs"),
		badPut("too many runs", jobWith("max_runs", `4294967296`), wrong, "max_runs"),
		badPut("no attempt", jobWith("retry", `{"max_attempts":0}`), wrong, "retry.max_attempts"),
		badPut("shrinking intervals", jobWith("retry", `{"multiplier":0.5}`), wrong, "retry.multiplier"),
		badPut("infinite multiplier", jobWith("retry", `{"multiplier":1e999}`), wrong, "retry.multiplier"),
		badPut("intervals the wrong way", jobWith("retry", `{"initial_interval":"1m","max_interval":"1s"}`), wrong, "retry.max_interval"),
		badPut("much jitter", jobWith("jitter", `"25h"`), wrong, "jitter"),
		badPut("no such completion", jobWith("completion", `"guessed"`), wrong, "completion"),
		badPut("jitter of retries beyond the interval", jobWith("retry", `{"jitter":1.5}`), wrong, "retry.jitter"),
		badPut("negative jitter of retries", jobWith("retry", `{"jitter":-0.1}`), wrong, "retry.jitter"),
		badPut("client errors are a text", jobWith("retry", `{"client_errors":"yes"}`), wrong, "retry.client_errors"),
		badPut("many failures", jobWith("pause_on_failure", `1001`), wrong, "pause_on_failure"),
		badPut("concurrent but skipping", jobWith("max_concurrent", `2`), wrong, "max_concurrent"),
		badPut("many at a time", jobWith("overlap_policy", `"allow"`, "max_concurrent", `10001`), wrong, "max_concurrent"),
		badPut("no such policy", jobWith("overlap_policy", `"maybe"`), wrong, "overlap_policy"),
		badPut("no such missed policy", jobWith("missed_run_policy", `"all"`), wrong, "missed_run_policy"),
		badPut("much catching up", jobWith("max_catchup_runs", `100000`), wrong, "max_catchup_runs"),
		badPut("large payload", jobWith("payload", `"`+strings.Repeat("x", 256<<10)+`"`), large, "payload"),
		badPut("long description", jobWith("description", `"`+strings.Repeat("x", 1025)+`"`), large, "description"),
		badPut("large headers", jobWith("headers", `{"X-A":"`+strings.Repeat("x", 17<<10)+`"}`), large, "headers"),
		badPut("many headers", jobWith("headers", manyPairs(65)), large, "headers"),
		badPut("many labels", jobWith("labels", manyPairs(33)), large, "labels"),
		badPut("line break in a header", jobWith("headers", `{"X-A":"1\r\nX-B: 2"}`), wrong, "headers.X-A"),
		badPut("line break in a header's name", jobWith("headers", `{"X-A\r\nX-B":"1"}`), wrong, "headers.X-A\r\nX-B"),
		badPut("our header", jobWith("headers", `{"Carillon-Fence":"1"}`), wrong, "headers.Carillon-Fence"),
		badPut("header of NATS", jobWith("headers", `{"nats-msg-id":"1"}`), wrong, "headers.nats-msg-id"),
		badPut("header of HTTP", jobWith("headers", `{"Content-Length":"1"}`), wrong, "headers.Content-Length"),
		badPut("label with a space", jobWith("labels", `{"a b":"1"}`), wrong, "labels.a b"),
	}
}

func manyPairs(n int) string {
	pairs := make([]string, n)
	for i := range pairs {
		pairs[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

func badTargets() []badRequest {
	const code = client.CodeInvalidTarget
	target := func(name, members, field string) badRequest {
		return badPut(name, jobWith("target", "{"+members+"}"), code, "target."+field)
	}
	return []badRequest{
		badPut("no target", jobWith("target", "-"), code, "target.kind"),
		target("no kind", `"subject":"a"`, "kind"),
		target("no such kind", `"kind":"mail","subject":"a"`, "kind"),
		target("handler outside", `"kind":"handler","name":"f"`, "kind"),
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
		target("url of nats", `"kind":"nats","subject":"a","url":"https://example.com"`, "url"),
		target("method of nats", `"kind":"nats","subject":"a","method":"POST"`, "method"),
		target("subject of http", `"kind":"http","url":"https://example.com","subject":"a"`, "subject"),
		target("name of nats", `"kind":"nats","subject":"a","name":"f"`, "name"),
		target("no url", `"kind":"http"`, "url"),
		target("file", `"kind":"http","url":"file:///etc/passwd"`, "url"),
		target("no host", `"kind":"http","url":"https:///x"`, "url"),
		target("password", `"kind":"http","url":"https://u:p@example.com"`, "url"),
		target("loopback", `"kind":"http","url":"http://127.0.0.1:8222/"`, "url"),
		target("metadata", `"kind":"http","url":"http://169.254.169.254/latest"`, "url"),
		target("private", `"kind":"http","url":"http://10.0.0.1/"`, "url"),
		target("loopback, IPv6", `"kind":"http","url":"http://[::1]/"`, "url"),
		target("localhost", `"kind":"http","url":"http://localhost/"`, "url"),
		target("method", `"kind":"http","url":"https://example.com","method":"TRACE"`, "method"),
	}
}

func badQueries() []badRequest {
	wrong, cron := client.CodeInvalidField, client.CodeInvalidSchedule
	return []badRequest{
		bad("limit 0", "jobs.list", `{"limit":0}`, wrong, "limit"),
		bad("limit 1001", "jobs.list", `{"limit":1001}`, wrong, "limit"),
		bad("negative limit", "runs.list", `{"job":"bad-input-1","limit":-1}`, wrong, "limit"),
		bad("absurd limit", "jobs.list", `{"limit":1e99}`, wrong, "limit"),
		bad("limit is a text", "jobs.list", `{"limit":"10"}`, wrong, "limit"),
		bad("no such status", "jobs.list", `{"status":"done"}`, wrong, "status"),
		bad("no such status of a run", "runs.list", `{"job":"bad-input-1","status":"ok"}`, wrong, "status"),
		bad("long prefix", "jobs.list", `{"prefix":"`+strings.Repeat("p", 129)+`"}`, wrong, "prefix"),
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

func badChanges() []badRequest {
	wrong, large := client.CodeInvalidField, client.CodeTooLarge
	return []badRequest{
		badPut("exists", jobWith("name", `"bad-input-1"`, "if_version", `0`), client.CodeAlreadyExists, "name"),
		badPut("another version", jobWith("name", `"bad-input-1"`, "if_version", `7`), client.CodeVersionConflict, "if_version"),
		badPut("version of nothing", jobWith("if_version", `1`), client.CodeVersionConflict, "if_version"),
		badPut("negative version", jobWith("if_version", `-1`), wrong, "if_version"),
		badPut("version is a text", jobWith("if_version", `"1"`), wrong, "if_version"),
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
		bad("broken among good ones", "jobs.put_many", `{"jobs":[`+jobWith()+`,{"name":"b",}]}`, client.CodeInvalidJSON, "jobs.1"),
	}
}
