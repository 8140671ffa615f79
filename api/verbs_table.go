package api

import "github.com/carillon-io/carillon/client"

// verbs lists the operations, in the order of the documentation.
var verbs = []verb{
	{
		name: "jobs.put", about: "Register a job, or update it.",
		request: client.PutRequest{}, required: []string{"name", "target"}, either: []string{"schedule", "schedules"}, reply: client.PutReply{},
		serve: (*Executor).put,
	}, {
		name: "jobs.put_many", about: "Register many jobs, each by itself.",
		request: client.PutManyRequest{}, required: []string{"jobs"}, reply: client.PutManyReply{},
		bulk: true, size: sizeBulk, serve: (*Executor).putMany,
	}, {
		name: "jobs.get", about: "Read a job.",
		request: client.GetRequest{}, required: []string{"name"}, reply: client.JobReply{},
		reads: true, size: sizeJob, serve: take(getMembers, (*Executor).get),
	}, {
		name: "jobs.list", about: "List jobs in the order of their names.",
		request: client.ListRequest{}, reply: client.JobPage{}, mayBeEmpty: true,
		reads: true, size: sizePage, serve: take(listMembers, (*Executor).list),
	}, {
		name: "jobs.delete", about: "Forget a job.",
		request: client.DeleteRequest{}, required: []string{"name"}, reply: client.DeleteReply{},
		serve: take(deleteMembers, (*Executor).remove),
	}, {
		name: "jobs.pause", about: "Stop the ticks of a job.",
		request: client.PauseRequest{}, required: []string{"name"}, reply: client.JobReply{},
		size: sizeJob, serve: take(pauseMembers, (*Executor).pause),
	}, {
		name: "jobs.resume", about: "Let the ticks of a paused job go on.",
		request: client.PauseRequest{}, required: []string{"name"}, reply: client.JobReply{},
		size: sizeJob, serve: take(pauseMembers, (*Executor).resume),
	}, {
		name: "jobs.trigger", about: "Run a job now.",
		request: client.TriggerRequest{}, required: []string{"name"}, reply: client.RunReply{},
		serve: take(triggerMembers, (*Executor).trigger),
	}, {
		name: "jobs.backfill", about: "Run a job for each tick of a past range.",
		request: client.BackfillRequest{}, required: []string{"name", "from", "to"}, reply: client.BackfillReply{},
		size: sizeList, serve: take(backfillMembers, (*Executor).backfill),
	}, {
		name: "runs.list", about: "List the runs of a job, newest first, or the dead runs of all jobs.",
		request: client.RunListRequest{}, either: []string{"job", "status"}, reply: client.RunPage{},
		reads: true, size: sizePage, serve: take(runListMembers, (*Executor).runs),
	}, {
		name: "runs.get", about: "Read a run with its attempts.",
		request: client.RunRequest{}, required: []string{"run_id"}, reply: client.RunReply{},
		reads: true, size: sizeList, serve: take(runMembers, (*Executor).run),
	}, {
		name: "runs.report", about: "Tell what became of a run that a worker has.",
		request: client.ReportRequest{}, required: []string{"run_id", "fence", "status"}, reply: client.RunReply{},
		serve: take(reportMembers, (*Executor).report),
	}, {
		name: "runs.extend", about: "Give a worker more time to report.",
		request: client.ExtendRequest{}, required: []string{"run_id", "fence", "by"}, reply: client.ExtendReply{},
		serve: take(extendMembers, (*Executor).extend),
	}, {
		name: "runs.cancel", about: "End a run that is not over.",
		request: client.RunRequest{}, required: []string{"run_id"}, reply: client.RunReply{},
		serve: take(runMembers, (*Executor).cancelRun),
	}, {
		name: "runs.retry", about: "Let a dead or cancelled run begin another attempt.",
		request: client.RunRequest{}, required: []string{"run_id"}, reply: client.RunReply{},
		serve: take(runMembers, (*Executor).retryRun),
	}, {
		name: "runs.retry_many", about: "Let dead runs begin another attempt, the newest first.",
		request: client.RetryManyRequest{}, reply: client.RetryManyReply{}, mayBeEmpty: true,
		size: sizeList, serve: take(retryManyMembers, (*Executor).retryMany),
	}, {
		name: "calendars.put", about: "Add a calendar, or replace it.",
		request: client.CalendarRequest{}, required: []string{"name", "exclude"}, reply: client.CalendarPutReply{},
		serve: take(calendarMembers, (*Executor).putCalendar),
	}, {
		name: "calendars.get", about: "Read a calendar.",
		request: client.NameRequest{}, required: []string{"name"}, reply: client.CalendarReply{},
		reads: true, size: sizeJob, serve: take(nameMembers, (*Executor).calendar),
	}, {
		name: "calendars.list", about: "List calendars in the order of their names.",
		request: client.CalendarListRequest{}, reply: client.CalendarPage{}, mayBeEmpty: true,
		reads: true, size: sizePage, serve: take(calendarListMembers, (*Executor).calendars),
	}, {
		name: "calendars.delete", about: "Forget a calendar that no job refers to.",
		request: client.NameRequest{}, required: []string{"name"}, reply: client.CalendarDeleteReply{},
		serve: take(nameMembers, (*Executor).removeCalendar),
	}, {
		name: "audit.list", about: "Tell who changed what, the newest first.",
		request: client.AuditRequest{}, reply: client.AuditPage{}, mayBeEmpty: true,
		reads: true, size: sizePage, serve: take(auditMembers, (*Executor).audit),
	}, {
		name: "schedules.next", about: "Tell when a schedule would tick.",
		request: client.NextRequest{}, either: []string{"schedule", "schedules"}, reply: client.NextReply{},
		reads: true, size: sizeList, serve: take(nextMembers, (*Executor).next),
	}, {
		name: "status", about: "Tell how the server is doing.",
		request: client.StatusRequest{}, reply: client.Status{}, mayBeEmpty: true,
		reads: true, size: sizeList, serve: take(statusMembers, (*Executor).status),
	},
}

// verbsByName finds verbs by their names.
var verbsByName = func() map[string]*verb {
	m := make(map[string]*verb, len(verbs))
	for i := range verbs {
		m[verbs[i].name] = &verbs[i]
	}
	return m
}()
