package dashboard

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/carillon-io/carillon/client"
)

// chosenMax bounds the jobs of one action on several: those of a page can all be chosen.
const chosenMax = pageRows

// pauseChosen pauses the chosen jobs.
func (v *visit) pauseChosen() (string, view) {
	return v.eachChosen("paused_many", func(name string) error {
		_, err := v.client.Pause(v.req.Context(), name, v.form.Get("reason"))
		return err
	})
}

// resumeChosen resumes the chosen jobs.
func (v *visit) resumeChosen() (string, view) {
	return v.eachChosen("resumed_many", func(name string) error {
		_, err := v.client.Resume(v.req.Context(), name, v.form.Get("reason"))
		return err
	})
}

// triggerChosen fires a run of each chosen job. The form's key makes a repeated submission harmless.
func (v *visit) triggerChosen() (string, view) {
	return v.eachChosen("triggered_many", func(name string) error {
		_, err := v.client.Trigger(v.req.Context(), client.TriggerRequest{Name: name, IdempotencyKey: v.form.Get("key")})
		return err
	})
}

// removeChosen deletes the chosen jobs.
func (v *visit) removeChosen() (string, view) {
	return v.eachChosen("deleted_many", func(name string) error {
		_, err := v.client.Delete(v.req.Context(), name)
		return err
	})
}

// eachChosen does something with each chosen job, in the order of the list, and shows the list again with the number of
// jobs with which it was done. A refusal for one job does not keep the others from it; the page then says how many were
// done, and why the first other was not.
func (v *visit) eachChosen(notice string, do func(name string) error) (string, view) {
	names := slices.Compact(slices.Clone(v.form["job"]))
	switch {
	case len(names) == 0:
		return v.listAgain(invalid("job", "no job is chosen; tick some in the list first"))
	case len(names) > chosenMax:
		return v.listAgain(invalid("job", "%d jobs are chosen; at most %d are allowed", len(names), chosenMax))
	}
	done, refused := 0, ""
	for _, name := range names {
		switch err := do(name); {
		case err == nil:
			done++
		case refused == "":
			refused = fmt.Sprintf("the first other is %s: %s", clip(name), publicError(err).Message)
		}
	}
	if refused == "" {
		return filterOf(v.query).link(v.tenant, "/jobs", "notice", notice, "n", strconv.Itoa(done)), view{}
	}
	return v.listAgain(refusal(client.CodeVersionConflict, http.StatusConflict, "it is done with %d of %d jobs; %s", done, len(names), refused))
}

// listAgain shows the list with an error. It is not live, because its first update would remove the error.
func (v *visit) listAgain(err error) (string, view) {
	p := v.jobs()
	p.err, p.live = err, nil
	return "", p
}
