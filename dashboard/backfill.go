package dashboard

import (
	"strconv"

	"github.com/carillon-io/carillon/client"
)

// backfillShown bounds the ticks that the preview of a backfill lists. It counts all of them.
const backfillShown = 50

// backfillBody is the content of the page of a backfill: the form, and after it was sent the preview. The form is shown
// again as it was typed.
type backfillBody struct {
	Job             client.JobInfo
	From, To, Limit string
	// ExactFrom and ExactTo are the range for the confirmation.
	ExactFrom, ExactTo string
	Repeat             bool
	Asked              bool // there is a preview
	Runs, LeftOut      int
	Times              []tick // the first backfillShown of the runs
	Last               tick   // the last one, if Times does not have it
	Fields             map[string]string
}

// ZoneName returns the zone in which the times are shown.
func (b *backfillBody) ZoneName() string { return zoneOf(b.Job.Timezone, b.Job.Schedule) }

// backfill returns the page of a backfill. Once its form names a range, it shows what a backfill of it would fire, by a dry
// run, which changes nothing.
func (v *visit) backfill() view { return v.backfillPage(v.query.Get("name"), v.query.Get) }

// backfillPage returns the page of a backfill with the values of a form.
func (v *visit) backfillPage(name string, get func(string) string) view {
	info, _, err := v.getJob(name)
	if err != nil {
		return view{page: "failed", title: "Job " + clip(name), active: "/jobs", err: err}
	}
	times, by := v.dashboard.typed(get), v.clockOf(zoneOf(info.Timezone, info.Schedule))
	body := &backfillBody{Job: info, From: times.shown("from", by), To: times.shown("to", by), ExactFrom: times.exact("from"), ExactTo: times.exact("to"), Limit: get("limit"), Repeat: get("repeat") == "yes"}
	p := view{page: "backfill", title: "Backfill of " + name, active: "/jobs", body: body}
	if get("from") == "" && get("to") == "" {
		return p
	}
	request, err := backfillRequest(name, times)
	var reply client.BackfillReply
	if err == nil {
		request.DryRun = true
		reply, err = v.client.BackfillTicks(v.req.Context(), request)
	}
	if err != nil {
		p.err, body.Fields = err, fieldErrors(err)
		return p
	}
	body.Asked, body.Runs, body.LeftOut = true, reply.Runs, reply.LeftOut
	ticks := v.ticksOf(reply.Times, body.ZoneName())
	if n := len(ticks); n > backfillShown {
		body.Last = ticks[n-1]
	}
	body.Times = ticks[:min(len(ticks), backfillShown)]
	return p
}

// backfillRequest returns the request for the values of the form. It checks only the forms of times and numbers.
func backfillRequest(name string, times typed) (request client.BackfillRequest, err error) {
	request = client.BackfillRequest{Name: name, Repeat: times.get("repeat") != ""}
	if text := times.get("repeat"); text != "" && text != "yes" {
		return request, invalid("repeat", "is %q; want yes, or nothing", clip(text))
	}
	if request.From, request.To, err = times.ends(); err != nil {
		return request, err
	}
	if text := times.get("limit"); text != "" {
		if request.Limit, err = strconv.Atoi(text); err != nil || request.Limit < 1 {
			return request, invalid("limit", "%q is not a number of runs; want 1 or more, or nothing for all", clip(text))
		}
	}
	return request, nil
}

// fillBack fires the runs of a backfill whose preview the reader has seen.
func (v *visit) fillBack() (string, view) {
	name := v.form.Get("name")
	request, err := backfillRequest(name, v.dashboard.typed(v.form.Get))
	var reply client.BackfillReply
	if err == nil {
		reply, err = v.client.BackfillTicks(v.req.Context(), request)
	}
	if err != nil {
		p := v.backfillPage(name, v.form.Get)
		p.err = err
		return "", p
	}
	return v.link("/runs", "job", name, "notice", "filled", "n", strconv.Itoa(reply.Runs)), view{}
}
