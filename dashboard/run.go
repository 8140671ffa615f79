package dashboard

import "github.com/carillon-io/carillon/client"

// runBody is the content of a run's page: the run with its attempts. The others only decide which buttons are shown: the
// server checks the state again.
type runBody struct {
	Run                             client.Run
	zone                            string // of the job, if the reader has chosen that
	MayRetry, MayDismiss, MayCancel bool
}

// ZoneName returns the zone of the job, if the reader has chosen that.
func (b *runBody) ZoneName() string { return b.zone }

// run returns the page of the run that the parameter id names.
func (v *visit) run() view { return v.runPage(v.query.Get("id")) }

// runPage returns the page of a run with its attempts.
func (v *visit) runPage(id string) view {
	r, err := v.client.Run(v.req.Context(), id)
	if err != nil {
		return view{page: "failed", title: "Run " + clip(id), active: "/jobs", err: err}
	}
	body := &runBody{Run: r, zone: v.clockOfJob(r.Job).name}
	switch r.Status {
	case "dead", "cancelled":
		body.MayRetry, body.MayDismiss = true, r.Status == "dead" && r.DismissedAt.IsZero()
	case "pending", "running", "retrying":
		body.MayCancel = true
	}
	return view{page: "run", title: "Run of " + r.Job, active: "/jobs", body: body, live: []string{"run-facts", "run-act"}}
}

// actedOn returns the address of a run's page after a successful action on it, or that page with the
// error.
func (v *visit) actedOn(id, notice string, err error) (string, view) {
	if err == nil {
		return v.link("/run", "id", id, "notice", notice), view{}
	}
	p := v.runPage(id)
	p.err, p.live = err, nil
	return "", p
}

// retryRun begins another attempt of a dead or cancelled run. The run keeps its id and its page, so the reader
// stays where the click was.
func (v *visit) retryRun() (string, view) {
	id := v.form.Get("id")
	_, err := v.client.RetryRun(v.req.Context(), id)
	return v.actedOn(id, "retried", err)
}

// dismissRun marks a dead run as dealt with.
func (v *visit) dismissRun() (string, view) {
	id := v.form.Get("id")
	_, err := v.client.Dismiss(v.req.Context(), client.DismissRequest{RunID: id, Reason: v.form.Get("reason")})
	return v.actedOn(id, "dismissed", err)
}

// cancelRun cancels a run that is not finished.
func (v *visit) cancelRun() (string, view) {
	id := v.form.Get("id")
	_, err := v.client.CancelRun(v.req.Context(), id)
	return v.actedOn(id, "cancelled", err)
}
