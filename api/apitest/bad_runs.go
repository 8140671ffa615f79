package apitest

import (
	"strings"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// noRun is the id of a run that is not there.
const noRun = "0000000000001-1764576000000"

// withRun is the beginning of a request about a run that is not there.
const withRun = `{"run_id":"` + noRun + `",`

// badReports lists bad reports and extensions. The run that they name does not exist, so the check of the request
// comes before the search for the run.
func badReports() []BadRequest {
	wrong, large := client.CodeInvalidField, client.CodeTooLarge
	report := func(name, members string, code client.Code, field string) BadRequest {
		return bad(name, "runs.report", withRun+members+"}", code, field)
	}
	extend := func(name, members string, code client.Code, field string) BadRequest {
		return bad(name, "runs.extend", withRun+members+"}", code, field)
	}
	long := strings.Repeat("x", 513)
	return []BadRequest{
		bad("report of nothing", "runs.report", `{}`, wrong, "run_id"),
		bad("report of no run id", "runs.report", `{"run_id":"1","fence":1,"status":"succeeded"}`, wrong, "run_id"),
		// The fence proves that the reporter has the latest attempt, so it is a whole number that no reader has
		// rounded.
		report("report without a fence", `"status":"succeeded"`, wrong, "fence"),
		report("report with fence 0", `"fence":0,"status":"succeeded"`, wrong, "fence"),
		report("report with a negative fence", `"fence":-1,"status":"succeeded"`, wrong, "fence"),
		report("report with a fence beyond 64 bits", `"fence":18446744073709551616,"status":"succeeded"`, wrong, "fence"),
		report("report with half a fence", `"fence":1.5,"status":"succeeded"`, wrong, "fence"),
		report("report with a fence as text", `"fence":"1","status":"succeeded"`, wrong, "fence"),
		// A worker reports one of two outcomes. The other states are for the server to decide.
		report("report without a status", `"fence":1`, wrong, "status"),
		report("report of a state that is no outcome", `"fence":1,"status":"dead"`, wrong, "status"),
		// Each outcome has a text of its own, a success a result and a failure an error.
		report("error of a success", `"fence":1,"status":"succeeded","error":"no"`, wrong, "error"),
		report("result of a failure", `"fence":1,"status":"failed","result":"5"`, wrong, "result"),
		report("result is an object", `"fence":1,"status":"succeeded","result":{"rows":5}`, wrong, "result"),
		report("long result", `"fence":1,"status":"succeeded","result":"`+long+`"`, large, "result"),
		report("long error", `"fence":1,"status":"failed","error":"`+long+`"`, large, "error"),
		report("misspelled", `"fence":1,"status":"failed","reason":"x"`, client.CodeUnknownField, "reason"),
		// A good report, which gets as far as the search for the run.
		report("report of a run that is not", `"fence":1,"status":"succeeded"`, client.CodeNotFound, "run_id"),
		bad("extension of nothing", "runs.extend", `{}`, wrong, "run_id"),
		// An extension counts from now on, so it is never 0 or negative, and its bound is that of the wait for a
		// report.
		extend("extension without a fence", `"by":"1m"`, wrong, "fence"),
		extend("extension by nothing", `"fence":1`, wrong, "by"),
		extend("extension by 0s", `"fence":1,"by":"0s"`, wrong, "by"),
		extend("extension into the past", `"fence":1,"by":"-1m"`, wrong, "by"),
		extend("long extension", `"fence":1,"by":"24h1ms"`, wrong, "by"),
		extend("extension by a number", `"fence":1,"by":60`, wrong, "by"),
		extend("extension of a run that is not", `"fence":1,"by":"1m"`, client.CodeNotFound, "run_id"),
	}
}

// badRunChanges lists bad cancels and retries.
func badRunChanges() []BadRequest {
	wrong, gone := client.CodeInvalidField, client.CodeNotFound
	return []BadRequest{
		bad("cancel of nothing", "runs.cancel", `{}`, wrong, "run_id"),
		bad("cancel of no run id", "runs.cancel", `{"run_id":"x"}`, wrong, "run_id"),
		bad("cancel of a run that is not", "runs.cancel", `{"run_id":"`+noRun+`"}`, gone, "run_id"),
		bad("empty cancel", "runs.cancel", ``, client.CodeInvalidJSON, ""),
		bad("retry of no run id", "runs.retry", `{"run_id":7}`, wrong, "run_id"),
		bad("retry of a run that is not", "runs.retry", `{"run_id":"`+noRun+`"}`, gone, "run_id"),
		// The filter of a retry of many runs selects dead ones only; a filter that matches nothing by mistake must
		// not look like success.
		bad("dismissal of no run id", "runs.dismiss", `{"run_id":7}`, wrong, "run_id"),
		bad("dismissal of a run that is not", "runs.dismiss", `{"run_id":"`+noRun+`"}`, gone, "run_id"),
		bad("dismissal for too long a reason", "runs.dismiss", `{"run_id":"`+noRun+`","reason":"`+strings.Repeat("x", job.ReasonBytesMax+1)+`"}`, client.CodeTooLarge, "reason"),
		bad("dismissal of a bad job's runs", "runs.dismiss_many", `{"job":"a b"}`, client.CodeInvalidName, "job"),
		bad("dismissal of no job's runs", "runs.dismiss_many", `{"job":"unknown"}`, gone, "job"),
		bad("dismissal of an empty range", "runs.dismiss_many", `{"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, wrong, "from"),
		bad("dismissal of none", "runs.dismiss_many", `{"limit":0}`, wrong, "limit"),
		bad("dismissal of too many", "runs.dismiss_many", `{"limit":1001}`, wrong, "limit"),
		bad("dismissal of many for too long a reason", "runs.dismiss_many", `{"reason":"`+strings.Repeat("x", job.ReasonBytesMax+1)+`"}`, client.CodeTooLarge, "reason"),
		bad("retry of a bad job's runs", "runs.retry_many", `{"job":"a b"}`, client.CodeInvalidName, "job"),
		bad("retry of no job's runs", "runs.retry_many", `{"job":"unknown"}`, gone, "job"),
		bad("retry of an empty range", "runs.retry_many", `{"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, wrong, "from"),
		bad("retry of none", "runs.retry_many", `{"limit":0}`, wrong, "limit"),
		bad("retry of too many", "runs.retry_many", `{"limit":1001}`, wrong, "limit"),
		bad("retry of those that live", "runs.retry_many", `{"status":"failed"}`, client.CodeUnknownField, "status"),
		// Only dead runs can be listed over all jobs. Other states need the name of a job.
		bad("failed runs of all jobs", "runs.list", `{"status":"failed"}`, client.CodeInvalidName, "job"),
		bad("attempts are a text", "runs.list", `{"job":"bad-input-1","attempts":"all"}`, wrong, "attempts"),
	}
}

// badCalendars lists bad requests about calendars.
func badCalendars() []BadRequest {
	name, cron, wrong, large := client.CodeInvalidName, client.CodeInvalidSchedule, client.CodeInvalidField, client.CodeTooLarge
	put := func(what, members string, code client.Code, field string) BadRequest {
		return bad(what, "calendars.put", "{"+members+"}", code, field)
	}
	return []BadRequest{
		// A calendar goes by the rules of the exclusions of a job, with a larger bound of its own.
		put("calendar without a name", `"exclude":["2026-12-25"]`, name, "name"),
		put("calendar with a bad name", `"name":"a b","exclude":["2026-12-25"]`, name, "name"),
		put("calendar of nothing", `"name":"c"`, wrong, "exclude"),
		put("calendar of a text", `"name":"c","exclude":"2026-12-25"`, wrong, "exclude"),
		put("calendar of numbers", `"name":"c","exclude":[20261225]`, wrong, "exclude.0"),
		put("calendar with an empty line", `"name":"c","exclude":["2026-12-25",""]`, cron, "exclude.1"),
		put("calendar with a line break", `"name":"c","exclude":["2026-12-25\n2026-12-26"]`, cron, "exclude.0"),
		put("large calendar", `"name":"c","exclude":`+manyLines(1001), large, "exclude"),
		put("much described calendar", `"name":"c","exclude":[],"description":"`+strings.Repeat("x", 1025)+`"`, large, "description"),
		// A calendar has a version to be read, but a put cannot demand one.
		put("calendar at a version", `"name":"c","exclude":[],"if_version":1`, client.CodeUnknownField, "if_version"),
		// Reads and deletes, which need an exact name.
		bad("calendar that is not", "calendars.get", `{"name":"unknown"}`, client.CodeNotFound, "name"),
		bad("calendar without any name", "calendars.get", `{}`, name, "name"),
		bad("delete of a calendar that is not", "calendars.delete", `{"name":"unknown"}`, client.CodeNotFound, "name"),
		bad("delete of a bad calendar", "calendars.delete", `{"name":"*"}`, name, "name"),
		bad("no calendars", "calendars.list", `{"limit":0}`, wrong, "limit"),
		bad("cursor of jobs for calendars", "calendars.list", `{"cursor":"$CURSOR"}`, wrong, "cursor"),
	}
}

// badAudits lists bad filters of the audit log.
func badAudits() []BadRequest {
	wrong := client.CodeInvalidField
	return []BadRequest{
		bad("no such action", "audit.list", `{"action":"look"}`, wrong, "action"),
		bad("audit of a bad name", "audit.list", `{"name":"a b"}`, client.CodeInvalidName, "name"),
		bad("audit of a long name of a caller", "audit.list", `{"by":"`+strings.Repeat("x", 129)+`"}`, wrong, "by"),
		bad("audit of an empty range", "audit.list", `{"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, wrong, "from"),
		bad("no entries", "audit.list", `{"limit":0}`, wrong, "limit"),
		bad("cursor of jobs for the audit log", "audit.list", `{"cursor":"$CURSOR"}`, wrong, "cursor"),
		// The audit log names calendars as well as jobs, so the member is not called job.
		bad("job in place of a name", "audit.list", `{"job":"x"}`, client.CodeUnknownField, "job"),
	}
}
