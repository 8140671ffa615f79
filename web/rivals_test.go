package web

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// TestConditionalActions changes a job by what is not a put: under another version than the job has it is
// refused, and under its own it happens, over both ways.
func TestConditionalActions(t *testing.T) {
	w, natsURL := startWebOf(t, apitest.StartEngine(t), api.Options{})
	c := apitest.NewClient(t, natsURL, client.Options{})
	w.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-"))
	version := uint32(1)
	for _, action := range []string{"pause", "resume", "trigger"} {
		path := "/api/v1/jobs/a/" + action
		w.ask("POST", path, "", `If-Match: "7"`).refused(t, action, 412, client.CodeVersionConflict, "if_version")
		w.ask("POST", path, `{"if_version":7}`).refused(t, action, 409, client.CodeVersionConflict, "if_version")
		w.ask("POST", path, `{"if_version":0}`).refused(t, action, 422, client.CodeInvalidField, "if_version")
		w.ask("POST", path, `{"if_version":7}`, fmt.Sprintf(`If-Match: "%d"`, version)).refused(t, action, 422, client.CodeInvalidField, "if_version")
		w.ask("POST", path, "", `If-None-Match: *`).refused(t, action, 422, client.CodeInvalidField, "If-None-Match")
		if got := w.ask("POST", path, "", fmt.Sprintf(`If-Match: "%d"`, version)); got.status != 200 {
			t.Errorf("%s at version %d: %d %s", action, version, got.status, got.body)
		}
		if action != "trigger" {
			version++
		}
	}
	if _, err := c.PauseIfVersion(t.Context(), "a", "", version-1); !client.IsConflict(err) {
		t.Errorf("pause over NATS: %v", err)
	}
	if _, err := c.DeleteIfVersion(t.Context(), "a", version-1); !client.IsConflict(err) {
		t.Errorf("delete over NATS: %v", err)
	}
	if j, err := c.ResumeIfVersion(t.Context(), "a", "", version); err != nil || j.Version != version {
		t.Errorf("a resume of what goes on: %+v, %v", j, err)
	}
	if _, err := c.DeleteIfVersion(t.Context(), "a", version); err != nil {
		t.Error(err)
	}
}

// TestTwoLines gives a header in two lines, of which one would be passed over otherwise.
func TestTwoLines(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	w.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-"))
	for name, values := range map[string][]string{
		"If-Match": {`"1"`, `"2"`}, "If-None-Match": {"*", "*"}, "Carillon-Tenant": {"default", "other"}, "Carillon-By": {"a", "b"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "DELETE", w.base+"/api/v1/jobs/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header[name] = values
		res, err := w.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 422 {
			t.Errorf("%s twice: %d", name, res.StatusCode)
		}
	}
	if got := w.ask("GET", "/api/v1/jobs/a", ""); got.status != 200 {
		t.Errorf("the job is gone: %d", got.status)
	}
}

// TestRivalsOverBothWays lets callers over HTTP and over NATS pause and delete a job at once that they all have
// seen at the same version: one of them has his way.
func TestRivalsOverBothWays(t *testing.T) {
	w, natsURL := startWebOf(t, apitest.StartEngine(t), api.Options{})
	c := apitest.NewClient(t, natsURL, client.Options{})
	for round := range 10 {
		name := fmt.Sprint("wanted-", round)
		w.ask("PUT", "/api/v1/jobs/"+name, apitest.JobWith("name", "-"))
		results := make(chan bool, 8)
		var rivals sync.WaitGroup
		for range 2 {
			rivals.Go(func() {
				_, err := c.PauseIfVersion(t.Context(), name, "", 1)
				results <- err == nil
			})
			rivals.Go(func() {
				_, err := c.DeleteIfVersion(t.Context(), name, 1)
				results <- err == nil
			})
			rivals.Go(func() { results <- w.ask("POST", "/api/v1/jobs/"+name+"/pause", "", `If-Match: "1"`).status == 200 })
			rivals.Go(func() { results <- w.ask("DELETE", "/api/v1/jobs/"+name, "", `If-Match: "1"`).status == 200 })
		}
		rivals.Wait()
		won := 0
		for range cap(results) {
			if <-results {
				won++
			}
		}
		if won != 1 {
			t.Errorf("round %d: %d rivals had their way", round, won)
		}
	}
}
