package core

import (
	"testing"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// hourMillis is by how much the clock is set back here.
const hourMillis instant.Millis = 3_600_000

// TestSetBackInABacklog: the clock is set back while a herd is in the backlog. What is in it waits for its time again, and is
// decided then, each tick once.
func TestSetBackInABacklog(t *testing.T) {
	h := newHerd(t)
	h.come("herd", 100)
	h.now += 900
	h.step()
	if h.core.backlogged != 92 {
		t.Fatalf("%d in the backlog, want 92", h.core.backlogged)
	}
	h.now -= hourMillis
	if n := len(h.step()); n != 0 || h.core.backlogged != 0 || h.core.Armed() != 92 {
		t.Errorf("%d launches an hour ahead, %d in the backlog, %d armed", n, h.core.backlogged, h.core.Armed())
	}
	if wake := wakeOf(h.core); wake <= h.now {
		t.Errorf("the next step is due at %s, and nothing is to be done at %s", wake, h.now)
	}
	h.now += hourMillis
	fired := 8
	for range 20 {
		fired += len(h.step())
	}
	if fired != 100 || h.core.counts.Fired != 100 || h.core.Armed() != 0 {
		t.Errorf("%d launches, %d fired, %d armed", fired, h.core.counts.Fired, h.core.Armed())
	}
}

// TestSetBackWithoutRoom: ticks that wait for a share wait for their time again, too.
func TestSetBackWithoutRoom(t *testing.T) {
	h := newHerd(t)
	h.liveMax = 5
	h.come("herd", 50)
	h.now += 900
	h.step()
	if h.core.shared.count == 0 {
		t.Fatal("no tick waits for a share")
	}
	waiting := h.core.Armed()
	h.now -= hourMillis
	if n := len(h.step()); n != 0 || h.core.shared.count != 0 || len(h.core.shared.lines) != 0 || h.core.wheel.Len() != waiting {
		t.Errorf("%d launches, %d wait for a share, %d of %d on the wheel", n, h.core.shared.count, h.core.wheel.Len(), waiting)
	}
}

// TestPutAfterSetBack: the ticks of a job that is put while the clock is behind are decided one by one, each when the clock
// comes within the lead of it.
func TestPutAfterSetBack(t *testing.T) {
	h := newHerd(t)
	h.now += hourMillis
	h.step()
	h.now -= hourMillis
	h.step(h.newPut("a", "every", "@every 1s"))
	for second := range instant.Millis(5) {
		if got := h.core.counts.Fired; got != uint64(second) {
			t.Fatalf("%d ticks decided after %d s", got, second)
		}
		h.now += 749
		h.step()
		if got := h.core.counts.Fired; got != uint64(second) {
			t.Fatalf("a tick is decided more than the lead ahead: %d", got)
		}
		h.now += 251
		h.step()
	}
}

// TestSetBackBehindAPause: a job is resumed with ticks of its pause, and paused again in the same step, before they are decided. The clock
// is set back before these ticks. A resume at that time finds none, so what is missed later was not missed by a pause.
func TestSetBackBehindAPause(t *testing.T) {
	h := newHerd(t)
	p := h.put("default", "job", "* * * * *")
	_, r := h.core.find(p.Hash)
	change := func(resume bool) Proposal {
		return &Pause{Tenant: "default", Name: "job", Hash: p.Hash, Resume: resume}
	}
	h.step(change(false))
	h.now += 10 * 60_000
	h.step(change(true), change(false))
	if !r.marks.is(markResumed) || !r.flags.Is(job.FlagPaused) {
		t.Fatalf("marks %b, flags %b; want the job paused, with ticks of its first pause to decide", r.marks, r.flags)
	}
	h.now -= hourMillis
	h.step(change(true))
	if r.marks.is(markResumed) {
		t.Error("the job has ticks of its pause to decide, which are yet to come")
	}
}
