package api

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// nameMembers is for requests that only name a job or a calendar.
var nameMembers = object[client.NameRequest]{
	"name": text(func(q *client.NameRequest) *string { return &q.Name }),
}

// getMembers has the switch for credentials, which is off unless a caller asks for them.
var getMembers = object[client.GetRequest]{
	"name":             text(func(q *client.GetRequest) *string { return &q.Name }),
	"with_credentials": boolean(func(q *client.GetRequest) *bool { return &q.WithCredentials }),
}

// get reads a job. Credentials are shown only to a caller that asks for them, so that a tool that logs what it reads
// logs none.
func (x *Executor) get(ctx context.Context, tenant string, req *client.GetRequest) (any, error) {
	if err := job.ValidateName(req.Name); err != nil {
		return nil, err
	}
	v, err := x.engine.Get(ctx, tenant, req.Name)
	if err != nil {
		return nil, err
	}
	sees, err := x.sightOf(ctx, tenant, req.WithCredentials)
	if err != nil {
		return nil, err
	}
	return x.jobMessage(sees.of(&v), `}`)
}

// deleteMembers and those below refuse an if_version of 0, which would demand that the job is not there.
var deleteMembers = object[client.DeleteRequest]{
	"name":       text(func(q *client.DeleteRequest) *string { return &q.Name }),
	"if_version": presentVersion(func(q *client.DeleteRequest) **uint32 { return &q.IfVersion }),
}

// remove deletes a job, and says how many of its runs were cancelled and how many are still with their targets. The
// name is free at once for a new job, which gets another id, so runs of the two are never confused.
func (x *Executor) remove(ctx context.Context, tenant string, req *client.DeleteRequest) (any, error) {
	if err := job.ValidateName(req.Name); err != nil {
		return nil, err
	}
	gone, err := x.engine.Delete(ctx, tenant, req.Name, req.IfVersion)
	if err != nil {
		return nil, err
	}
	return &client.DeleteReply{Deleted: true, Runs: client.DeletedRuns{Cancelled: gone.Cancelled, Running: gone.Running}}, nil
}

var pauseMembers = object[client.PauseRequest]{
	"name":       text(func(q *client.PauseRequest) *string { return &q.Name }),
	"reason":     text(func(q *client.PauseRequest) *string { return &q.Reason }),
	"if_version": presentVersion(func(q *client.PauseRequest) **uint32 { return &q.IfVersion }),
}

// pause stops the ticks of a job. The reason is shown with the job.
func (x *Executor) pause(ctx context.Context, tenant string, req *client.PauseRequest) (any, error) {
	if err := checkPause(req); err != nil {
		return nil, err
	}
	return x.jobReply(x.engine.Pause(ctx, tenant, req.Name, req.Reason, req.IfVersion))
}

// resume lets the ticks of a paused job go on. It reads the same members as pause.
func (x *Executor) resume(ctx context.Context, tenant string, req *client.PauseRequest) (any, error) {
	if err := checkPause(req); err != nil {
		return nil, err
	}
	return x.jobReply(x.engine.Resume(ctx, tenant, req.Name, req.Reason, req.IfVersion))
}

// checkPause checks a request to pause or to resume.
func checkPause(req *client.PauseRequest) error {
	if err := job.ValidateName(req.Name); err != nil {
		return err
	}
	return checkReason(req.Reason)
}

// checkReason checks the reason that a caller gives for a change.
func checkReason(reason string) error {
	if len(reason) > job.ReasonBytesMax {
		return apierr.Errorf(apierr.TooLarge, "reason", "has %d bytes; at most %d are allowed", len(reason), job.ReasonBytesMax)
	}
	return nil
}

// listRequest is the query, with the cursor from which it continues.
type listRequest struct {
	scheduler.ListQuery
	// cursor is still opaque here; list turns it into ListQuery.After.
	cursor          string
	withCredentials bool
	// isPartial is for a router; one shard alone has no parts.
	isPartial bool
}

// listMembers has the filters; all of them are part of the cursor, the limit is not.
var listMembers = object[listRequest]{
	"prefix": text(func(q *listRequest) *string { return &q.Prefix }),
	"labels": pairs(job.LabelsMax, func(q *listRequest) *[]job.Pair { return &q.Labels }),
	"status": word(parseJobStatus, func(q *listRequest) *string { return &q.Status }),
	"limit":  between(1, scheduler.PageMax, func(q *listRequest) *int { return &q.Limit }),
	"cursor": text(func(q *listRequest) *string { return &q.cursor }),

	"contains": text(func(q *listRequest) *string { return &q.Contains }),
	"target":   text(func(q *listRequest) *string { return &q.Target }),
	"last_run": word(parseLastRun, func(q *listRequest) *bool { return &q.LastFailed }),

	"with_credentials": boolean(func(q *listRequest) *bool { return &q.withCredentials }),
	"partial":          boolean(func(q *listRequest) *bool { return &q.isPartial }),
}

// jobStatuses are the states of a job, as [job.TimerFlags] names them.
var jobStatuses = []string{"active", "paused", "completed", "failed"}

// parseJobStatus parses the API's word for the state of a job.
func parseJobStatus(s string) (string, error) {
	if !slices.Contains(jobStatuses, s) {
		return "", apierr.Errorf(apierr.InvalidField, "status", "%q is unknown; want one of %s", apierr.Clip(s), strings.Join(jobStatuses, ", "))
	}
	return s, nil
}

// lastRunFailed is the only word by which jobs are selected by their last run.
const lastRunFailed = "failed"

// parseLastRun parses by which last run jobs are selected.
func parseLastRun(s string) (failed bool, err error) {
	if s != lastRunFailed {
		return false, apierr.Errorf(apierr.InvalidField, "last_run", "%q is unknown; want %s, or leave it out", apierr.Clip(s), lastRunFailed)
	}
	return true, nil
}

// check refuses texts that no job has.
func (q *listRequest) check() error {
	for _, f := range []struct {
		name, text string
		most       int
	}{{"prefix", q.Prefix, job.NameBytesMax}, {"contains", q.Contains, job.NameBytesMax}, {"target", q.Target, job.SubjectBytesMax}} {
		if len(f.text) > f.most {
			return apierr.Errorf(apierr.InvalidField, f.name, "has %d characters; at most %d are allowed", len(f.text), f.most)
		}
	}
	return nil
}

// asked returns what a cursor of the list belongs to. A filter that earlier releases do not have is in it only if it is
// used, behind a word that no label can be, so that their cursors stay valid.
func (q *listRequest) asked() query {
	asked := query{"jobs", q.Tenant, q.Prefix, q.Status}
	for _, l := range q.Labels {
		asked = append(asked, l.Key, l.Value)
	}
	if q.Contains != "" {
		asked = append(asked, " contains", q.Contains)
	}
	if q.Target != "" {
		asked = append(asked, " target", q.Target)
	}
	if q.LastFailed {
		asked = append(asked, " last_run", lastRunFailed)
	}
	return asked
}

// list lists the jobs of a tenant in the order of their names. with_credentials is not part of the cursor: it changes
// how jobs are shown, and not which.
func (x *Executor) list(ctx context.Context, tenant string, req *listRequest) (any, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	setDefault(&req.Limit, PageDefault)
	req.Tenant = tenant
	asked := req.asked()
	var err error
	if req.After, err = asked.key(req.cursor); err != nil {
		return nil, err
	}
	sees, err := x.sightOf(ctx, tenant, req.withCredentials)
	if err != nil {
		return nil, err
	}
	return x.page(ctx, asked, req.ListQuery, sees)
}
