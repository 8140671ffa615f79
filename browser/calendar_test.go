package browser

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

// TestCalendar goes from a job to the calendar that it refers to, sees its days, turns the months, and goes back.
func TestCalendar(t *testing.T) {
	s := newStage(t)
	_, _, err := s.Client.PutCalendar(t.Context(), client.CalendarRequest{Name: "holidays", Exclude: []string{"* * 25 12 *", "* 12 1 * *"}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, client.Job{Name: "office", Schedule: "0 9 * * *", Exclude: []string{"@calendar holidays"}, Timezone: "Europe/Berlin", Target: client.Target{Kind: "nats", Subject: "office"}})
	p := visitor(t, s.URL)
	p.opens("/job?name=office")
	p.clicks("#job-calendars a")
	p.sees(count("#months table") + " === 3 && " + count("#months td.part") + " >= 2")
	p.reads("#users", "office")
	for range 4 { // in a year there is one Christmas
		if done, err := Eval[bool](p.tab, count("#months td.out")+" === 1"); err != nil || done {
			break
		}
		before, err := Eval[string](p.tab, "location.search")
		p.must(err)
		p.clicks("main a[rel=next]")
		p.sees("location.search !== " + quote(before) + ` && document.readyState === "complete"`)
	}
	p.reads("#months td.out", "25")
	p.clicks("#users a")
	p.sees(`location.pathname === "/job"`)
	p.clicks(`nav a[href^="/calendars"]`)
	p.reads("#calendars", "holidays")
}

// TestBackfill previews a backfill, confirms it, and sees its runs.
func TestBackfill(t *testing.T) {
	s := newStage(t)
	from := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
	put(t, s, client.Job{Name: "hourly", Schedule: "0 * * * *", StartsAt: client.At(from.Add(-time.Hour)), Target: client.Target{Kind: "nats", Subject: "hourly"}})
	p := visitor(t, s.URL)
	p.opens("/job?name=hourly")
	p.clicks("[data-action=to-backfill]")
	p.sets("from", from.Format("2006-01-02T15:04"))
	p.sets("to", from.Add(2*time.Hour).Format("2006-01-02T15:04"))
	p.clicks("[data-action=preview]")
	p.reads("#preview", "2 runs would fire")
	p.rows("#times li", 2)
	p.asks("backfill")
	p.confirms("backfill")
	p.reads("[role=status]", "Runs that were fired: 2.")
	p.sees(`location.pathname === "/runs"`)
	p.rows("#runs tr[data-run]", 2)
}
