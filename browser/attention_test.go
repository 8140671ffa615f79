package browser

import (
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestOnCall is a night on call: the overview is quiet, then it says before the reader's eyes what has gone wrong, leads
// there, and is quiet again when it is mended.
func TestOnCall(t *testing.T) {
	s := newStage(t)
	put(t, s, breakable(s, "exports/night"))
	p := visitor(t, s.URL)
	p.opens("/")
	p.reads("#quiet", "Nothing needs attention")
	p.sees(shown("#mark .pill.good"))
	check := p.stays()
	if _, err := s.Client.Trigger(t.Context(), client.TriggerRequest{Name: "exports/night"}); err != nil {
		t.Fatal(err)
	}
	p.reads(`[data-concern=dead]`, "exports/night")
	p.reads("#mark", "1 concern")
	check()
	p.sees("!" + shown("#mark .pill.good"))

	// The concern leads to the dead runs, and the mark on each page back to the overview.
	p.clicks(`[data-concern=dead] a`)
	p.rows("#runs tr[data-status=dead]", 1)
	p.clicks("#mark a")
	p.sees(`location.pathname === "/" && ` + shown("#attention"))

	s.Hall.Mend()
	if _, err := s.Client.RetryMany(t.Context(), client.RetryManyRequest{}); err != nil {
		t.Fatal(err)
	}
	p.reads("#quiet", "Nothing needs attention")
	p.sees(shown("#mark .pill.good"))
}

// TestRunChart watches the chart of a job grow as its runs come.
func TestRunChart(t *testing.T) {
	s := newStage(t)
	put(t, s, client.Job{Name: "drawn", Schedule: "@every 1s", Target: client.Target{Kind: "http", URL: s.Hall.URL + "/drawn"}})
	p := visitor(t, s.URL)
	p.opens("/job?name=drawn")
	check := p.stays()
	p.sees(count("#run-chart .outcomes rect") + " >= 3 && " + count("#run-chart .bar") + " >= 3")
	p.reads("#ledger dl", "succeeded")
	p.sees(`document.querySelector("#run-chart svg[role=img]").getAttribute("aria-label").includes("at the median")`)
	check()
}
