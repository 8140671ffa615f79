package browser

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// TestLifeOfAJob is a day at work: a job is registered, seen firing, paused, resumed, run by hand and deleted.
func TestLifeOfAJob(t *testing.T) {
	s := newStage(t)
	heard, beats := listen(t, s, "work.heartbeat"), listen(t, s, "work.metronome")
	p := visitor(t, s.URL)

	// It is registered, and fires before the reader's eyes.
	p.opens("/new")
	p.types("name", "work/heartbeat")
	p.types("schedule", "@every 1s")
	p.chooses("target_kind", "nats")
	p.types("target_address", "work.heartbeat")
	p.types("payload", `{"pulse": 1}`)
	p.types("labels", "team=night")
	p.types("description", "Beats once a second.")
	p.clicks("form:has([name=schedule]) [data-action=register]")
	p.sees(`location.pathname === "/job"`)
	p.reads("#status", "active")
	p.reads("main", "Beats once a second.")
	check := p.stays()
	p.rows("#runs tr[data-status=succeeded]", 3)
	check()
	if m := <-heard; string(m.Data) != `{"pulse":1}` {
		t.Errorf("the target got %q", m.Data)
	}

	// Somebody begins to write down why it must stop; what happens meanwhile does not disturb him.
	p.asks("pause")
	p.types("reason", "the sirens")
	p.rows("#runs tr[data-status=succeeded]", 5)
	check()
	p.sees(shown("details[open] [data-action=pause]"))
	p.sees(`document.querySelector("details[open] [name=reason]").value === "the sirens"`)
	p.confirms("pause")
	p.reads("#status", "paused")
	p.reads("main", "the sirens")
	staysSilent(t, s, heard, beats)

	// It goes on, and is run by hand in between.
	p.asks("resume")
	p.confirms("resume")
	p.reads("#status", "active")
	<-heard
	p.asks("trigger")
	p.confirms("trigger")
	p.rows(`#runs tr[data-run="`+manualRun(t, s, "work/heartbeat")+`"]`, 1)

	// It is deleted, and gone.
	p.asks("delete")
	p.confirms("delete")
	p.reads("[role=status]", "work/heartbeat")
	if _, err := s.Client.Get(t.Context(), "work/heartbeat"); !client.IsNotFound(err) {
		t.Errorf("the job is still there, or: %v", err)
	}
	p.opens("/jobs")
	p.sees(count(`#jobs tr[data-job="work/heartbeat"]`) + " === 0")
}

// staysSilent checks that nothing is heard for two beats of another job.
func staysSilent(t *testing.T, s *Stage, heard, beats <-chan *nats.Msg) {
	t.Helper()
	put(t, s, client.Job{Name: "work/metronome", Schedule: "@every 1s", Target: client.Target{Kind: "nats", Subject: "work.metronome"}})
	<-beats // what had been decided when the pause came has left by now
	for len(heard) > 0 {
		<-heard
	}
	<-beats
	<-beats
	if n := len(heard); n > 0 {
		t.Errorf("a paused job fired %d times", n)
	}
}

func put(t *testing.T, s *Stage, jobs ...client.Job) {
	t.Helper()
	for _, j := range jobs {
		if _, _, err := s.Client.Put(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
}

// manualRun returns the id of the run of a job that was asked for by hand.
func manualRun(t *testing.T, s *Stage, name string) string {
	t.Helper()
	for r, err := range s.Client.Runs(t.Context(), client.RunListRequest{Job: name}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Manual {
			return r.RunID
		}
	}
	t.Fatalf("no run of %s was asked for by hand", name)
	return ""
}

// TestOverviewLives watches the figures of the overview grow.
func TestOverviewLives(t *testing.T) {
	s := newStage(t)
	p := visitor(t, s.URL)
	p.opens("/")
	check := p.stays()
	p.reads("#figure-armed", "0")
	put(t, s, client.Job{Name: "tick", Schedule: "@every 100ms", Target: client.Target{Kind: "nats", Subject: "tick"}})
	p.reads("#figure-armed", "1")
	first, err := Eval[string](p.tab, `document.querySelector("#figure-fired").innerText`)
	if err != nil {
		t.Fatal(err)
	}
	p.sees(`document.querySelector("#figure-fired").innerText !== ` + quote(first))
	check()
}

// TestStreamEnds closes a server before a reader's eyes: nothing hangs on his page.
func TestStreamEnds(t *testing.T) {
	s := newStage(t)
	p := visitor(t, s.URL)
	p.tab.Pardon("ERR_") // the browser tells that its stream has broken
	p.opens("/")
	p.sees(`document.querySelector("[data-live]")`)
	began := time.Now()
	if err := s.Server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the server took %s to close with a reader on it", took)
	}
	p.reads("h1", "") // what was shown stays
}
