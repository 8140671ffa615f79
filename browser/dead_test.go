package browser

import (
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// breakable is a job whose target fails until it is mended, and that does not try twice.
func breakable(s *Stage, name string) client.Job {
	return client.Job{
		Name: name, Schedule: "@yearly", Target: client.Target{Kind: "http", URL: s.Hall.URL + "/broken/" + name},
		Retry: client.Retry{MaxAttempts: 1},
	}
}

// TestDeadLetter finds a dead run, mends what killed it, and sees it succeed.
func TestDeadLetter(t *testing.T) {
	s := newStage(t)
	put(t, s, breakable(s, "exports/invoices"))
	p := visitor(t, s.URL)

	// It is run by hand and dies.
	p.opens("/job?name=exports/invoices")
	p.asks("trigger")
	p.confirms("trigger")
	check := p.stays()
	p.rows("#runs tr[data-status=dead]", 1)
	check()
	id := manualRun(t, s, "exports/invoices")

	// It is found under the dead letters, with what its target said.
	p.opens("/")
	p.reads("#figure-dead", "1")
	p.clicks(`nav a[href^="/runs"]`)
	p.clicks(fmt.Sprintf(`#runs tr[data-run=%q] a[href*="/run?"]`, id))
	p.reads("#run-status", "dead")
	p.reads("#attempts", "500")
	p.reads("#attempts", "database is locked <script>")

	// Its target is mended, and it is tried again before the reader's eyes.
	s.Hall.Mend()
	p.asks("retry")
	p.confirms("retry")
	p.reads("#run-status", "succeeded")
	p.opens("/runs?status=dead")
	p.sees(count("#runs tr[data-run]") + " === 0")
}

// TestManyDeadLetters tries all of them again at once.
func TestManyDeadLetters(t *testing.T) {
	s := newStage(t)
	const many = 5
	for i := range many {
		j := breakable(s, fmt.Sprintf("exports/%d", i))
		put(t, s, j)
		if _, err := s.Client.Trigger(t.Context(), client.TriggerRequest{Name: j.Name}); err != nil {
			t.Fatal(err)
		}
	}
	p := visitor(t, s.URL)
	p.opens("/")
	p.reads("#figure-dead", fmt.Sprint(many))
	s.Hall.Mend()
	p.opens("/runs?status=dead")
	p.rows("#runs tr[data-run]", many)
	p.clicks(`details:has(form[action*="/runs/retry"]) [data-confirm=retry]`)
	p.clicks(`form[action*="/runs/retry"] [data-action=retry]`)
	p.sees(shown("[role=status]"))
	p.reads("[role=status]", fmt.Sprint(many))
	for i := range many {
		p.opens(fmt.Sprintf("/job?name=exports/%d", i))
		p.rows("#runs tr[data-status=succeeded]", 1)
	}
}
