package browser

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

// TestZoneOfTimes: a reader in Tokyo sees a job of Berlin in UTC, then in the zone of the job, then in their own, which the
// browser knows; the choice holds on other pages, and forms are in it.
func TestZoneOfTimes(t *testing.T) {
	s := newStage(t)
	put(t, s, client.Job{
		Name: "office", Schedule: "0 9 * * *", Timezone: "Europe/Berlin", Target: client.Target{Kind: "nats", Subject: "office"},
		StartsAt: client.At(time.Date(2030, 7, 1, 12, 0, 0, 0, time.UTC)),
	})
	p := visitor(t, s.URL)
	p.must(p.tab.SetZone("Asia/Tokyo"))
	p.opens("/job?name=office")
	p.reads("main .facts", "2030-07-01 12:00:00 UTC")
	p.choosesZone("job")
	p.reads("main .facts", "2030-07-01 14:00:00 CEST")
	p.sees(`location.pathname + location.search === "/job?name=office"`)
	p.reads("#zone", "mine, Asia/Tokyo")
	p.choosesZone("Asia/Tokyo")
	p.reads("main .facts", "2030-07-01 21:00:00 JST")
	p.clicks(`nav a[href^="/audit"]`)
	p.reads("#audit", "JST")
	p.reads("main form", "From (Asia/Tokyo)")
	p.sets("from", time.Now().In(time.FixedZone("JST", 9*60*60)).Add(-time.Hour).Format("2006-01-02T15:04"))
	p.clicks("main [data-action=search]")
	p.sees(`location.search.includes("times_in=Asia%2FTokyo")`)
	p.rows("#audit tr", 1)
	p.choosesZone("UTC")
	p.reads("#audit", "UTC")
	p.rows("#audit tr", 1)
}

// TestZoneWhileTyping: a choice of a zone does not throw away what was typed; it waits for its button.
func TestZoneWhileTyping(t *testing.T) {
	s := newStage(t)
	p := visitor(t, s.URL)
	p.opens("/new")
	p.types("name", "half-typed")
	p.must(p.tab.Choose("#zone", "job"))
	p.sees(`document.querySelector("[name=name]").value === "half-typed" && !document.querySelector("[data-action=choose-zone]").hidden`)
	p.clicks("[data-action=choose-zone]")
	p.sees(`document.querySelector("#zone").value === "job" && location.pathname === "/new"`)
}

// choosesZone chooses the zone of times, and waits for the page in it.
func (p *person) choosesZone(zone string) {
	p.t.Helper()
	_, err := Eval[bool](p.tab, "window.asked = true")
	p.must(err)
	p.must(p.tab.Choose("#zone", zone))
	p.sees(`!window.asked && document.readyState === "complete" && document.querySelector("#zone").value === ` + quote(zone))
}

// TestZoneWithoutScripts: the choice has a button where JavaScript is off.
func TestZoneWithoutScripts(t *testing.T) {
	s := newStage(t)
	put(t, s, client.Job{Name: "office", Schedule: "@yearly", Timezone: "Europe/Berlin", Target: client.Target{Kind: "nats", Subject: "office"}})
	p := visitor(t, s.URL)
	p.must(p.tab.WithoutScripts())
	p.opens("/job?name=office")
	p.must(p.tab.Choose("#zone", "job"))
	p.clicks("[data-action=choose-zone]")
	p.sees(`document.querySelector("#zone").value === "job"`)
	p.reads("main .facts", " CE")
}

// TestFirstVisit: the first pages of a new server lead to a first job, and its runs.
func TestFirstVisit(t *testing.T) {
	s := newStage(t)
	listen(t, s, "first")
	p := visitor(t, s.URL)
	p.opens("/")
	p.reads("#lateness", "Register a job")
	p.clicks(`nav a[href^="/audit"]`)
	p.reads("main .empty", "Register the first job")
	p.clicks("main .empty a")
	p.types("name", "first")
	p.types("schedule", "@yearly")
	p.chooses("target_kind", "nats")
	p.types("target_address", "first")
	p.clicks("form:has([name=schedule]) [data-action=register]")
	p.reads("#ledger .empty", "“Run now” begins one at once")
	p.clicks("#ledger a")
	p.reads("#run-list .empty", "can begin one now")
	p.clicks("#run-list .empty a")
	p.asks("trigger")
	p.confirms("trigger")
}
