package dashboard

import (
	"encoding/json"

	"github.com/carillon-io/carillon/client"
)

// notices has the texts that a page shows after an action, by the query parameter notice. The character # stands for
// the parameter n, a name or a number. A parameter selects one of these texts and never is one, so that a link cannot
// put words of its author on the page.
var notices = map[string]string{
	"registered":     "The job is registered.",
	"changed":        "The job is changed.",
	"paused":         "The job is paused.",
	"resumed":        "The job goes on.",
	"triggered":      "A run has begun.",
	"deleted":        "The job # is deleted.",
	"paused_many":    "Jobs that are paused: #.",
	"resumed_many":   "Jobs that go on: #.",
	"triggered_many": "Jobs of which a run has begun: #.",
	"deleted_many":   "Jobs that are deleted: #.",
	"retried":        "The run begins another attempt.",
	"cancelled":      "The run is cancelled.",
	"many":           "Runs that begin another attempt: #. No other dead run matches.",
	"more":           "Runs that begin another attempt: #. More dead runs match.",

	"dismissed":      "The run is dismissed.",
	"dismissed_many": "Runs that are dismissed: #. No other dead run matches.",
	"dismissed_more": "Runs that are dismissed: #. More dead runs match.",
	"filled":         "Runs that were fired: #.",
	"handed":         "The leader hands over to #.",
}

// acted returns the address of a job's page after a successful action on it, or that page with the error. With an
// error the page is not live, because its first update would remove the error and what was typed.
func (v *visit) acted(name, notice string, err error) (string, view) {
	if err == nil {
		return v.link("/job", "name", name, "notice", notice), view{}
	}
	p := v.jobPage(name)
	p.err, p.live = err, nil
	if body, ok := p.body.(*jobBody); ok {
		body.Payload = v.form.Get("payload")
	}
	return "", p
}

// pause pauses a job with the reason in the form.
func (v *visit) pause() (string, view) {
	name := v.form.Get("name")
	_, err := v.client.Pause(v.req.Context(), name, v.form.Get("reason"))
	return v.acted(name, "paused", err)
}

// resume resumes a paused job.
func (v *visit) resume() (string, view) {
	name := v.form.Get("name")
	_, err := v.client.Resume(v.req.Context(), name, v.form.Get("reason"))
	return v.acted(name, "resumed", err)
}

// trigger fires a run of a job, with the payload in the form if there is one. The form's key makes a
// repeated submission harmless.
func (v *visit) trigger() (string, view) {
	request := client.TriggerRequest{Name: v.form.Get("name"), IdempotencyKey: v.form.Get("key")}
	if text := v.form.Get("payload"); text != "" {
		if !json.Valid([]byte(text)) {
			return v.acted(request.Name, "", errNoJSON())
		}
		request.Payload = json.RawMessage(text)
	}
	_, err := v.client.Trigger(v.req.Context(), request)
	return v.acted(request.Name, "triggered", err)
}

// remove deletes a job. It shows the list next, because the page of the job no longer exists.
func (v *visit) remove() (string, view) {
	name := v.form.Get("name")
	_, err := v.client.Delete(v.req.Context(), name)
	if err == nil {
		return v.link("/jobs", "notice", "deleted", "n", name), view{}
	}
	return v.acted(name, "", err)
}

// errNoJSON is the refusal of a payload in a form. The form has no base64: a binary payload is put over the API.
func errNoJSON() error {
	return invalid("payload", `is not JSON; want a value such as {"n": 1}, or a text in quotes`)
}
