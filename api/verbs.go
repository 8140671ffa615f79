package api

import (
	"context"

	"github.com/carillon-io/carillon/client"
)

// verb is one operation of the API.
type verb struct {
	name       string
	about      string
	request    any      // of the type that a client sends; for the schema
	required   []string // members that a request must have
	reply      any      // of the type that a client reads; for the schema
	bulk       bool     // bounded apart from the others
	mayBeEmpty bool     // an empty message stands for {}
	serve      serveFunc
}

// serveFunc carries a request out and returns the reply to be encoded.
type serveFunc func(s *Service, ctx context.Context, tenant string, body []byte) (any, error)

// verbs lists the operations, in the order of the documentation. Reports of workers (runs.report,
// runs.extend) and the handling of single runs (runs.cancel, runs.retry) belong after runs.get.
var verbs = []verb{
	{
		name: "jobs.put", about: "Register a job, or update it.",
		request: client.PutRequest{}, required: []string{"name", "schedule", "target"}, reply: client.PutReply{},
		serve: (*Service).put,
	}, {
		name: "jobs.put_many", about: "Register many jobs, each by itself.",
		request: client.PutManyRequest{}, required: []string{"jobs"}, reply: client.PutManyReply{},
		bulk: true, serve: (*Service).putMany,
	}, {
		name: "jobs.get", about: "Read a job.",
		request: client.NameRequest{}, required: []string{"name"}, reply: client.JobReply{},
		serve: take(nameMembers, (*Service).get),
	}, {
		name: "jobs.list", about: "List jobs in the order of their names.",
		request: client.ListRequest{}, reply: client.JobPage{}, mayBeEmpty: true,
		serve: take(listMembers, (*Service).list),
	}, {
		name: "jobs.delete", about: "Forget a job.",
		request: client.NameRequest{}, required: []string{"name"}, reply: client.DeleteReply{},
		serve: take(nameMembers, (*Service).remove),
	}, {
		name: "jobs.pause", about: "Stop the ticks of a job.",
		request: client.PauseRequest{}, required: []string{"name"}, reply: client.JobReply{},
		serve: take(pauseMembers, (*Service).pause),
	}, {
		name: "jobs.resume", about: "Let the ticks of a paused job go on.",
		request: client.PauseRequest{}, required: []string{"name"}, reply: client.JobReply{},
		serve: take(pauseMembers, (*Service).resume),
	}, {
		name: "jobs.trigger", about: "Run a job now.",
		request: client.TriggerRequest{}, required: []string{"name"}, reply: client.RunReply{},
		serve: take(triggerMembers, (*Service).trigger),
	}, {
		name: "jobs.backfill", about: "Run a job for each tick of a past range.",
		request: client.BackfillRequest{}, required: []string{"name", "from", "to"}, reply: client.BackfillReply{},
		serve: take(backfillMembers, (*Service).backfill),
	}, {
		name: "runs.list", about: "List the runs of a job, newest first.",
		request: client.RunListRequest{}, required: []string{"job"}, reply: client.RunPage{},
		serve: take(runListMembers, (*Service).runs),
	}, {
		name: "runs.get", about: "Read a run with its attempts.",
		request: client.RunRequest{}, required: []string{"run_id"}, reply: client.RunReply{},
		serve: take(runMembers, (*Service).run),
	}, {
		name: "schedules.next", about: "Tell when a schedule would tick.",
		request: client.NextRequest{}, required: []string{"schedule"}, reply: client.NextReply{},
		serve: take(nextMembers, (*Service).next),
	}, {
		name: "status", about: "Tell how the server is doing.",
		request: client.StatusRequest{}, reply: client.Status{}, mayBeEmpty: true,
		serve: take(statusMembers, (*Service).status),
	},
}

// take makes a serveFunc of a method that works on a request with the given members.
func take[T any](members object[T], act func(*Service, context.Context, string, *T) (any, error)) serveFunc {
	return func(s *Service, ctx context.Context, tenant string, body []byte) (any, error) {
		var req T
		if err := read(body, func(r *reader) error { return members.read(r, &req) }); err != nil {
			return nil, err
		}
		return act(s, ctx, tenant, &req)
	}
}
