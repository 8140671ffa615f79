package core

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// TestBacklogTakesTurns: a job of another tenant that comes due when a herd is in the backlog waits for
// one turn of the herd, and jobs of one tenant keep their order.
func TestBacklogTakesTurns(t *testing.T) {
	h := newHerd(t)
	h.come("herd", 200)
	h.now += 900
	h.step()
	if c := h.core; c.backlogged != 192 || c.Armed() != 192 || wakeOf(c) > h.now {
		t.Fatalf("%d in the backlog, %d armed, wake at %s", c.backlogged, c.Armed(), wakeOf(c))
	}
	h.put("other", "late", "@at "+h.now.Time().Format(time.RFC3339Nano))
	var last job.ID
	otherAt := 0
	for n := 0; h.core.backlogged > 0; {
		for _, l := range h.step() {
			if n++; h.tenant[l.Run.Job] == "other" {
				otherAt = n
			} else if l.Run.Job < last {
				t.Errorf("job %s after %s", l.Run.Job, last)
			} else {
				last = l.Run.Job
			}
		}
	}
	if otherAt == 0 || otherAt > decideQuantum+1 {
		t.Errorf("the other tenant's job was number %d", otherAt)
	}
	if c := h.core; c.counts.Fired != 201 || c.Armed() != 0 || c.backlog.Len() != 0 {
		t.Errorf("fired %d, armed %d, backlog %d", c.counts.Fired, c.Armed(), c.backlog.Len())
	}
}

// TestTwinsTakeTurns: the launches of two tenants whose names have the same hash are those of two tenants.
func TestTwinsTakeTurns(t *testing.T) {
	h := newHerd(t)
	turns := make(map[pad.Tenant]string)
	for _, name := range []string{"acme", "ten65761"} {
		h.come(name, 1)
	}
	h.now += 900
	for _, l := range h.step() {
		turns[l.Tenant] = h.tenant[l.Run.Job]
	}
	if job.HashTenant("acme") != job.HashTenant("ten65761") || len(turns) != 2 || turns[0] != "" {
		t.Errorf("turns by number: %v", turns)
	}
}

// TestChangesInTheBacklog checks that a change of a job that waits in the backlog takes effect, whichever job has its
// seat in the end.
func TestChangesInTheBacklog(t *testing.T) {
	h := newHerd(t)
	h.come("herd", 100)
	h.now += 900
	h.step()
	id := func(name string) NameHash { return h.hasher.hash("herd", name) }
	var fired []job.ID
	step := func(p ...Proposal) {
		for _, l := range h.step(p...) {
			fired = append(fired, l.Run.Job)
		}
	}
	paused, resumed, deleted := h.row("herd", 95).id, h.row("herd", 96).id, h.row("herd", 97).id
	step(&Pause{Name: "herd95", Hash: id("herd95")}, &Pause{Name: "herd96", Hash: id("herd96")},
		&Delete{Tenant: "herd", Name: "herd97", Hash: id("herd97")})
	if r := h.row("herd", 95); r.timer != 0 || r.marks&^stateMask != 0 {
		t.Errorf("the paused job is still armed: %+v", r)
	}
	step(&Pause{Name: "herd96", Hash: id("herd96"), Resume: true})
	later := h.put("herd", "herd98", "@at "+(h.now+5000).Time().Format(time.RFC3339Nano)).Stamp.ID
	heir := h.put("herd", "heir", "@at "+(h.now+5000).Time().Format(time.RFC3339Nano)).Stamp.ID // has the seat of the deleted
	for h.core.backlog.Len() > 0 {
		step()
	}
	count := map[job.ID]int{}
	for _, run := range fired {
		count[run]++
	}
	if count[paused]+count[deleted]+count[later]+count[heir] != 0 || count[resumed] != 1 {
		t.Errorf("paused %d, deleted %d, put off %d, heir %d, resumed %d",
			count[paused], count[deleted], count[later], count[heir], count[resumed])
	}
	if c := h.core; c.Armed() != 2 || c.backlogged != 0 || c.counts.Fired != 97 {
		t.Errorf("%d armed, %d in the backlog, %d fired", c.Armed(), c.backlogged, c.counts.Fired)
	}
}

// TestBacklogWithoutRoom: when no run may go live, what is due waits, and goes when there is room.
func TestBacklogWithoutRoom(t *testing.T) {
	h := newHerd(t)
	h.come("herd", 20)
	h.now += 900
	for range 3 {
		h.lsn++
		if out := h.core.Step(Input{Now: h.now, LSN: h.lsn}); len(out.Launches) != 0 || h.core.Armed() != 20 {
			t.Fatalf("%d launches without room, %d armed", len(out.Launches), h.core.Armed())
		}
	}
	for i := range 3 * backlogVoidMax {
		hash := h.hasher.hash("herd", "herd0")
		h.lsn++
		h.core.Step(Input{Now: h.now, LSN: h.lsn, Proposals: []Proposal{&Pause{Hash: hash, Resume: i%2 == 1}}})
	}
	if n := h.core.backlog.Len(); n > backlogVoidMax+2*20 {
		t.Errorf("20 jobs have %d entries", n)
	}
	for h.core.Armed() > 0 {
		h.step()
	}
	if h.core.counts.Fired != 20 {
		t.Errorf("fired %d", h.core.counts.Fired)
	}
}

// wakeOf returns when a core wants its next step.
func wakeOf(c *Core) instant.Millis {
	at, _ := c.wakeAt()
	return at
}
