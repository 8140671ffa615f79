package browser

import (
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestDismissedLetters finds out why runs died, dismisses those of one job with a reason, and another on its own page.
func TestDismissedLetters(t *testing.T) {
	s := newStage(t)
	for _, name := range []string{"exports/old", "exports/old", "exports/new"} {
		put(t, s, breakable(s, name))
		if _, err := s.Client.Trigger(t.Context(), client.TriggerRequest{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	p := visitor(t, s.URL)
	p.opens("/")
	p.reads("#figure-dead", "3")

	// The groups say what died, and of what.
	p.clicks(`nav a[href^="/runs"]`)
	p.clicks(`main a[href^="/dead"]`)
	p.rows("#groups tr[data-group]", 2)
	old := `#groups tr[data-group="exports/old"]`
	p.reads(old, "database is locked <script>")
	p.clicks(old + ` a[href*="cause="]`)
	p.rows("#runs tr[data-run]", 2)

	// One group is dismissed at once.
	p.opens("/dead")
	p.clicks(old + ` [data-confirm=dismiss]`)
	p.must(p.tab.Fill(old+" input[name=reason]", "the export is gone"))
	p.clicks(old + ` [data-action=dismiss]`)
	p.reads("[role=status]", "2")
	p.rows("#groups tr[data-group]", 1)

	// The last one is dismissed on its page, which keeps it.
	id := manualRun(t, s, "exports/new")
	p.opens("/run?id=" + id)
	p.clicks("#run-act [data-confirm=dismiss]")
	p.clicks("#run-act [data-action=dismiss]")
	p.sees(shown("#dismissed"))
	p.reads("#run-status", "dead")
	p.opens("/runs")
	p.sees(count("#runs tr[data-run]") + " === 0")
	p.opens("/job?name=exports/new")
	p.rows(fmt.Sprintf("#runs tr[data-run=%q]", id), 1)
}
