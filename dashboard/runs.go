package dashboard

import (
	"slices"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/rungroup"
)

// runsBody is the content of a list of runs: one page of them, and the filter.
type runsBody struct {
	Job, Status, From, To string
	zone                  string // of the times
	// ExactFrom and ExactTo are the range for confirmations.
	ExactFrom, ExactTo string
	Runs               []client.Run
	// Strip is drawn for one job only: runs of several have no common order.
	Strip       []stroke
	Next, First string
	Statuses    []string
	AllJobs     bool // runs of all jobs, so that the list has a column for the job
	MayRetry    bool // the runs are dead, so that they can be retried
	// Cause is of a group of dead runs that alone is listed, see [rungroup.CauseID]; "" lists all.
	Cause string
}

// Filtered reports whether the list has less than all runs of its job or, without a job, than all dead ones.
func (b *runsBody) Filtered() bool {
	return b.From != "" || b.To != "" || b.Cause != "" || b.Status != "" && (!b.AllJobs || b.Status != "dead")
}

// ZoneName returns the zone of the job, if the reader has chosen that.
func (b *runsBody) ZoneName() string { return b.zone }

// They are the choices of the filter. A status that the API adds can be asked for in the address before it is among
// them.
var runStatuses = []string{"pending", "running", "retrying", "succeeded", "failed", "dead", "skipped", "cancelled"}

// runs returns the list of runs that the query selects.
func (v *visit) runs() view {
	q := v.query
	return v.runsPage(q.Get("job"), q.Get("status"), v.dashboard.typed(q.Get))
}

// runsPage returns the list of a job's runs or, without a job, of the dead runs of all jobs. Without a job only dead
// runs can be listed, so that is the default status.
func (v *visit) runsPage(job, status string, times typed) view {
	// The API lists the runs of all jobs only if they are dead.
	if job == "" && status == "" {
		status = "dead"
	}
	by := v.clockOfJob(job)
	body := &runsBody{
		Job: job, Status: status, zone: by.name, From: times.shown("from", by), To: times.shown("to", by), ExactFrom: times.exact("from"), ExactTo: times.exact("to"), Statuses: runStatuses,
		AllJobs: job == "", MayRetry: status == "dead",
	}
	p := view{page: "runs", title: "Runs of " + clip(job), active: "/jobs", body: body, live: []string{"run-list"}}
	if body.AllJobs {
		p.title, p.active = "Dead runs", "/runs"
	}
	request := client.RunListRequest{Job: job, Status: status, Cursor: v.query.Get("cursor")}
	var err error
	request.Limit, err = v.rows()
	if body.Cause = v.query.Get("cause"); body.Cause != "" {
		// A page reads many runs to find some of the group. That is too much for each poll of a stream.
		request.Limit, body.MayRetry, p.live = deadPage, false, nil
	}
	if err == nil && body.AllJobs && status != "dead" {
		err = invalid("job", "want the name of a job: without one, only dead runs can be listed")
	}
	if err == nil {
		request.From, request.To, err = times.ends()
	}
	var page client.RunPage
	if err == nil {
		page, err = v.client.ListRuns(v.req.Context(), request)
	}
	if err != nil {
		p.err, p.live = err, nil
		return p
	}
	body.Runs, body.Next, body.First = ofCause(page.Runs, body.Cause), v.onward(page.NextCursor), v.first()
	if !body.AllJobs {
		body.Strip = stripOf(body.Runs, by)
	}
	return p
}

// ofCause returns the runs of a cause; all for "".
func ofCause(runs []client.Run, cause string) []client.Run {
	if cause == "" {
		return runs
	}
	return slices.DeleteFunc(runs, func(r client.Run) bool { return rungroup.CauseID(&r) != cause })
}

// changedMax bounds the runs that one click retries or dismisses. The notice says if more are left, so that the reader
// can click again. It is changed by tests alone.
var changedMax = 1000

// retryRuns begins another attempt of the dead runs that match the filter, the newest first.
func (v *visit) retryRuns() (string, view) {
	return v.eachFound("many", "more", func(f client.RetryManyRequest) (int, bool, error) {
		reply, err := v.client.RetryMany(v.req.Context(), f)
		return reply.Retried, reply.More, err
	})
}

// dismissRuns dismisses the dead runs that match the filter, the newest first.
func (v *visit) dismissRuns() (string, view) {
	return v.eachFound("dismissed_many", "dismissed_more", func(f client.RetryManyRequest) (int, bool, error) {
		reply, err := v.client.DismissMany(v.req.Context(), client.DismissManyRequest{Job: f.Job, From: f.From, To: f.To, Limit: f.Limit, Reason: v.form.Get("reason")})
		return reply.Dismissed, reply.More, err
	})
}

// eachFound changes the dead runs that match the filter in the form, and shows the list again with the number of runs
// that it changed: with the notice all, or with some if more match.
func (v *visit) eachFound(all, some string, change func(client.RetryManyRequest) (n int, more bool, err error)) (string, view) {
	f := v.form
	job, times := f.Get("job"), v.dashboard.typed(f.Get)
	request := client.RetryManyRequest{Job: job, Limit: changedMax}
	err := v.onlyFields("job", "from", "to", typedIn, "reason")
	if err == nil {
		request.From, request.To, err = times.ends()
	}
	n, more := 0, false
	if err == nil {
		n, more, err = change(request)
	}
	if err != nil {
		p := v.runsPage(job, "dead", times)
		p.err, p.live = err, nil
		return "", p
	}
	notice := all
	if more {
		notice = some
	}
	return v.link("/runs", "job", job, "status", "dead", "from", f.Get("from"), "to", f.Get("to"), typedIn, f.Get(typedIn), "notice", notice, "n", strconv.Itoa(n)), view{}
}

// stroke is a run in the strip that shows a job's last runs. About is the text for readers who do not see the
// picture.
type stroke struct {
	X, Y, Height float64
	Tone, About  string
}

// The size of a strip in the units of its SVG.
const (
	strokeStep  = 10.0
	stripHeight = 30.0
)

// stripOf draws runs, the newest at the right, with their times by a clock. Failed runs are taller, so that readers need not distinguish colours.
// runs must be newest first, as the API lists them.
func stripOf(runs []client.Run, by clock) []stroke {
	list := make([]stroke, len(runs))
	for i := range runs {
		r := &runs[len(runs)-1-i]
		s := stroke{X: strokeStep * float64(i), Height: stripHeight / 2, Tone: tone(r.Status), About: r.Status + ", " + instantOf(r.ScheduledAt, by, time.Time{}).Exact}
		switch s.Tone {
		case "bad":
			s.Height = stripHeight
		case "warn":
			s.Height = stripHeight * 3 / 4
		case "still":
			s.Height = stripHeight / 5
		}
		s.Y = stripHeight - s.Height
		list[i] = s
	}
	return list
}
