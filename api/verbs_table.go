package api

import (
	"github.com/carillon-io/carillon/client"
)

// verbs lists the operations, in the order of the documentation. The names and members are the contract with callers:
// an entry may get new optional members, and loses none. reads must be false for a verb that proposes anything,
// because standbys serve those with true. size is what the reply may need in memory.
var verbs = []Verb{
	{
		// The reply repeats the job of the request, so its room is that of sizeFixed. The verb reads its body by
		// itself, because the trace of a refused put should have the job's name.
		name: "jobs.put", About: "Register a job, or update it.",
		request: client.PutRequest{}, required: []string{"name", "target"}, either: []string{"schedule", "schedules"}, Reply: client.PutReply{},
		serve: (*Executor).put,
	}, {
		// Bulk gives it a gate, a room and timeouts of its own.
		name: "jobs.put_many", About: "Register many jobs, each by itself.",
		request: client.PutManyRequest{}, required: []string{"jobs"}, Reply: client.PutManyReply{},
		Bulk: true, size: sizeBulk, serve: (*Executor).putMany,
	}, {
		name: "jobs.get", About: "Read a job.",
		request: client.GetRequest{}, required: []string{"name"}, Reply: client.JobReply{},
		reads: true, size: sizeJob, serve: take(getMembers, (*Executor).get),
	}, {
		name: "jobs.list", About: "List jobs in the order of their names.",
		request: client.ListRequest{}, Reply: client.JobPage{}, mayBeEmpty: true,
		reads: true, size: sizePage, serve: take(listMembers, (*Executor).list),
	}, {
		// A second delete of the same job is refused as not_found, so a client does not repeat it blindly.
		name: "jobs.delete", About: "Forget a job.",
		request: client.DeleteRequest{}, required: []string{"name"}, Reply: client.DeleteReply{},
		serve: take(deleteMembers, (*Executor).remove),
	}, {
		name: "jobs.pause", About: "Stop the ticks of a job.",
		request: client.PauseRequest{}, required: []string{"name"}, Reply: client.JobReply{},
		size: sizeJob, serve: take(pauseMembers, (*Executor).pause),
	}, {
		name: "jobs.resume", About: "Let the ticks of a paused job go on.",
		request: client.PauseRequest{}, required: []string{"name"}, Reply: client.JobReply{},
		size: sizeJob, serve: take(pauseMembers, (*Executor).resume),
	}, {
		// The run in the reply has no payload, so the room does not depend on it.
		name: "jobs.trigger", About: "Run a job now.",
		request: client.TriggerRequest{}, required: []string{"name"}, Reply: client.RunReply{},
		serve: take(triggerMembers, (*Executor).trigger),
	}, {
		// With dry_run the reply lists the ticks, at most scheduler.BackfillMax of them.
		name: "jobs.backfill", About: "Run a job for each tick of a past range.",
		request: client.BackfillRequest{}, required: []string{"name", "from", "to"}, Reply: client.BackfillReply{},
		size: sizeList, serve: take(backfillMembers, (*Executor).backfill),
	}, {
		// Either job or status must be there; which status does without a job is checked by checkRunQuery.
		name: "runs.list", About: "List the runs of a job, newest first, or the dead runs of all jobs.",
		request: client.RunListRequest{}, either: []string{"job", "status"}, Reply: client.RunPage{},
		reads: true, size: sizePage, serve: take(runListMembers, (*Executor).runs),
	}, {
		name: "runs.get", About: "Read a run with its attempts.",
		request: client.RunRequest{}, required: []string{"run_id"}, Reply: client.RunReply{},
		reads: true, size: sizeList, serve: take(runMembers, (*Executor).run),
	}, {
		// The fence says which attempt is meant, and the tenant in the subject must be that of the run.
		name: "runs.report", About: "Tell what became of a run that a worker has.",
		request: client.ReportRequest{}, required: []string{"run_id", "fence", "status"}, Reply: client.RunReply{},
		serve: take(reportMembers, (*Executor).report),
	}, {
		name: "runs.extend", About: "Give a worker more time to report.",
		request: client.ExtendRequest{}, required: []string{"run_id", "fence", "by"}, Reply: client.ExtendReply{},
		serve: take(extendMembers, (*Executor).extend),
	}, {
		name: "runs.cancel", About: "End a run that is not over.",
		request: client.RunRequest{}, required: []string{"run_id"}, Reply: client.RunReply{},
		serve: take(runMembers, (*Executor).cancelRun),
	}, {
		name: "runs.retry", About: "Let a dead or cancelled run begin another attempt.",
		request: client.RunRequest{}, required: []string{"run_id"}, Reply: client.RunReply{},
		serve: take(runMembers, (*Executor).retryRun),
	}, {
		name: "runs.retry_many", About: "Let dead runs begin another attempt, the newest first.",
		request: client.RetryManyRequest{}, Reply: client.RetryManyReply{}, mayBeEmpty: true,
		size: sizeList, serve: take(retryManyMembers, (*Executor).retryMany),
	}, {
		name: "runs.dismiss", About: "Mark a dead run as dealt with: it is kept, and no longer listed as dead.",
		request: client.DismissRequest{}, required: []string{"run_id"}, Reply: client.RunReply{},
		serve: take(dismissMembers, (*Executor).dismissRun),
	}, {
		name: "runs.dismiss_many", About: "Mark dead runs as dealt with, the newest first.",
		request: client.DismissManyRequest{}, Reply: client.DismissManyReply{}, mayBeEmpty: true,
		size: sizeList, serve: take(dismissManyMembers, (*Executor).dismissMany),
	}, {
		name: "calendars.put", About: "Add a calendar, or replace it.",
		request: client.CalendarRequest{}, required: []string{"name", "exclude"}, Reply: client.CalendarPutReply{},
		serve: take(calendarMembers, (*Executor).putCalendar),
	}, {
		// A calendar of a thousand lines is about as large as a job with its payload.
		name: "calendars.get", About: "Read a calendar.",
		request: client.NameRequest{}, required: []string{"name"}, Reply: client.CalendarReply{},
		reads: true, size: sizeJob, serve: take(nameMembers, (*Executor).calendar),
	}, {
		name: "calendars.list", About: "List calendars in the order of their names.",
		request: client.CalendarListRequest{}, Reply: client.CalendarPage{}, mayBeEmpty: true,
		reads: true, size: sizePage, serve: take(calendarListMembers, (*Executor).calendars),
	}, {
		name: "calendars.delete", About: "Forget a calendar that no job refers to.",
		request: client.NameRequest{}, required: []string{"name"}, Reply: client.CalendarDeleteReply{},
		serve: take(nameMembers, (*Executor).removeCalendar),
	}, {
		// It is permitted by its own subject, so that NATS can restrict who sees what others did.
		name: "audit.list", About: "Tell who changed what, the newest first.",
		request: client.AuditRequest{}, Reply: client.AuditPage{}, mayBeEmpty: true,
		reads: true, size: sizePage, serve: take(auditMembers, (*Executor).audit),
	}, {
		// It reads calendars and no job, and changes nothing, so a standby answers it.
		name: "schedules.next", About: "Tell when a schedule would tick.",
		request: client.NextRequest{}, either: []string{"schedule", "schedules"}, Reply: client.NextReply{},
		reads: true, size: sizeList, serve: take(nextMembers, (*Executor).next),
	}, {
		// It has no noun and no action, because there is one status for each node.
		name: "status", About: "Tell how the server is doing.",
		request: client.StatusRequest{}, Reply: client.Status{}, mayBeEmpty: true,
		reads: true, size: sizeList, serve: take(statusMembers, (*Executor).status),
	}, {
		// It is about the caller of this node, so no node passes it on to another one.
		name: "whoami", About: "Tell who the caller is, and what it may do.",
		request: client.WhoamiRequest{}, Reply: client.Whoami{}, mayBeEmpty: true,
		reads: true, size: sizeList, serve: take(whoamiMembers, (*Executor).whoami),
	},
}

// VerbNamed returns the verb of a name such as "jobs.put"; nil if there is none.
func VerbNamed(name string) *Verb { return verbsByName[name] }

// verbsByName has the verbs of the table, not copies of them, so that their addresses are their identities.
var verbsByName = func() map[string]*Verb {
	m := make(map[string]*Verb, len(verbs))
	for i := range verbs {
		m[verbs[i].name] = &verbs[i]
	}
	return m
}()
