package pad

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// versionSender keeps the payload with which each run left.
type versionSender struct {
	heldSender
	sent map[job.RunID]string
}

// Launch implements Sender.
func (s *versionSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	s.heldSender.Launch(d, done)
	s.sent[d.Run] = string(d.Payload)
	if d.Awaited {
		s.sent[d.Run] += ", awaited"
	}
}

// TestTemplatesTwin changes jobs at random while feeders are slow: between the moment at which they take a launch in hand, that at
// which they read its row, and that at which they hand it on. Each run leaves with the definition that was in force when it last
// came onto the pad, and says whether another run may wait for it.
func TestTemplatesTwin(t *testing.T) {
	seed := testkit.Seed(t)
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 11))
	sender, now := &versionSender{sent: map[job.RunID]string{}}, instant.Millis(10_000)
	p := New(Options{Sender: sender, Report: func(job.Outcome, bool) {}, Now: func() time.Time { return now.Time() }})
	store, want := map[job.ID]string{}, map[job.RunID]string{}
	type held struct {
		w *waiting
		d *job.Delivery // read already; nil: not yet
	}
	var hands []held
	added := 0
	read := func(w *waiting) *job.Delivery {
		l, d := p.toRead(w)
		if d == nil {
			d = &job.Delivery{Run: l.Run, Attempt: l.Attempt, Payload: []byte(store[l.Run.Job])}
		}
		return d
	}
	add := func(list []Launch) {
		for _, l := range list {
			want[l.Run] = store[l.Run.Job]
			if l.Mode != ModeFree {
				want[l.Run] += ", awaited"
			}
		}
		p.Add(list, now)
	}
	for step := range 20_000 {
		id := job.ID(1 + rng.IntN(5))
		switch k := rng.IntN(10); {
		case k < 3:
			at := now + instant.Millis(rng.IntN(5000))
			for i := range instant.Millis(1 + rng.IntN(5)) {
				added++
				mode := []Mode{ModeFree, ModeWait}[rng.IntN(2)] // with a limit that is never reached
				add([]Launch{{Run: job.RunID{Job: id, At: at + i, Seq: uint32(step)}, Due: at + i, Attempt: 1, Fence: uint64(step), Mode: mode, Limit: 60_000}})
			}
		case k < 4:
			taken := p.Take(id)
			if rng.IntN(2) == 0 && len(hands) > 0 { // a feeder reads the old row, and is done after the change
				if h := &hands[rng.IntN(len(hands))]; h.d == nil {
					h.d = read(h.w)
				}
			}
			store[id] = fmt.Sprint("v", step)
			add(taken)
		case k < 6:
			taken, _ := p.unreadChunk(now, nil)
			for _, w := range taken {
				h := held{w: w}
				if rng.IntN(2) == 0 {
					h.d = read(w)
				}
				hands = append(hands, h)
			}
		case k < 8:
			for n := rng.IntN(len(hands) + 1); n > 0; n-- {
				h := hands[0]
				hands = hands[1:]
				if h.d == nil {
					h.d = read(h.w)
				}
				p.ready(h.w, h.d, nil, now)
			}
		default:
			now += instant.Millis(rng.IntN(50))
			p.launchDue(now, nil)
		}
		for len(sender.left) > 0 {
			run := sender.left[0]
			if sender.sent[run] != want[run] {
				t.Fatalf("seed %d: run %s left with %q; its job had %q when it came onto the pad", seed, run, sender.sent[run], want[run])
			}
			done := sender.done[0]
			sender.left, sender.done = slices.Delete(sender.left, 0, 1), slices.Delete(sender.done, 0, 1)
			done(job.Outcome{Run: run, Attempt: 1})
		}
	}
	if len(sender.sent) < added/2 {
		t.Errorf("of %d launches %d left", added, len(sender.sent))
	}
	for id := range p.templates.byJob {
		if p.byJob[id] == nil {
			t.Errorf("job %s has a template and no launch", id)
		}
	}
}

// TestTemplatesSpareReads: a job that ticks every second is read once, and its launches that come within the horizon later are
// copies; what a launch has of its own is its own. The memory of templates has a bound.
func TestTemplatesSpareReads(t *testing.T) {
	l := newLaneTest(1000)
	for i := range instant.Millis(100) {
		at := l.now + 1000*i
		l.Add([]Launch{{Run: job.RunID{Job: 7, At: at}, Due: at, Attempt: 1}}, l.now)
	}
	for range 100 {
		l.rest()
		l.now += 1000
	}
	if len(l.sender.left) != 100 || l.reads > 4 {
		t.Errorf("%d runs left, with %d reads", len(l.sender.left), l.reads)
	}
	if l.templates.bytes != 0 || len(l.templates.byJob) != 0 {
		t.Errorf("%d templates of %d bytes are left", len(l.templates.byJob), l.templates.bytes)
	}
	many := templates{most: templateBytesDefault}
	for id := range job.ID(100_000) {
		many.keep(&job.Delivery{Run: job.RunID{Job: id}, Payload: make([]byte, 1000)})
		if many.bytes > many.most {
			t.Fatalf("templates of %d bytes", many.bytes)
		}
	}
	if d := many.delivery(Launch{Run: job.RunID{Job: 99_999, At: 5}, Attempt: 3, Fence: 9}); d == nil || d.Run.At != 5 || d.Attempt != 3 || d.Fence != 9 {
		t.Errorf("a copy is %+v", d)
	}
	if many.delivery(Launch{Run: job.RunID{Job: 99_999}, HasPayload: true}) != nil {
		t.Error("a run with a payload of its own gets that of its job")
	}
}
