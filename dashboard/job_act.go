package dashboard

import (
	"encoding/json"

	"github.com/carillon-io/carillon/client"
)

// notices are what a page says of an action that led to it, by the parameter notice. # is the name or the
// number in the parameter n.
var notices = map[string]string{
	"registered": "The job is registered.",
	"changed":    "The job is changed.",
	"paused":     "The job is paused.",
	"resumed":    "The job goes on.",
	"triggered":  "A run has begun.",
	"deleted":    "The job # is deleted.",
	"retried":    "The run begins another attempt.",
	"cancelled":  "The run is cancelled.",
	"many":       "Runs that begin another attempt: #. No other dead run of the selection is left.",
	"more":       "Runs that begin another attempt: #. More dead runs are left.",
}

// acted returns the page of a job after an action on it, or the same page with what was wrong.
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

func (v *visit) pause() (string, view) {
	name := v.form.Get("name")
	_, err := v.client.Pause(v.req.Context(), name, v.form.Get("reason"))
	return v.acted(name, "paused", err)
}

func (v *visit) resume() (string, view) {
	name := v.form.Get("name")
	_, err := v.client.Resume(v.req.Context(), name, v.form.Get("reason"))
	return v.acted(name, "resumed", err)
}

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

func (v *visit) remove() (string, view) {
	name := v.form.Get("name")
	_, err := v.client.Delete(v.req.Context(), name)
	if err == nil {
		return v.link("/jobs", "notice", "deleted", "n", name), view{}
	}
	return v.acted(name, "", err)
}

func errNoJSON() error {
	return invalid("payload", `is no JSON; want a value such as {"n": 1}, or a text in quotes`)
}
