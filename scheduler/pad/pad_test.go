package pad

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// heldSender keeps what leaves, in order.
type heldSender struct {
	left []job.RunID
	done []func(job.Outcome)
}

// Reserve implements Sender.
func (*heldSender) Reserve(job.Lane, int, func() bool) bool { return true }

// Release implements Sender.
func (*heldSender) Release(job.Lane, int) {}

// Launch implements Sender.
func (s *heldSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	s.left, s.done = append(s.left, d.Run), append(s.done, done)
}

// TestPadTwin adds, takes, launches and settles launches of a few jobs at random, and compares the pad with a
// plain list: take returns what has not left, oldest first, and the count is right.
func TestPadTwin(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 5))
	sender := &heldSender{}
	p := New(Options{Sender: sender, Report: func(job.Outcome, bool) {}})
	twin, now := []job.RunID(nil), instant.Millis(10_000)
	for range 20_000 {
		id := job.ID(1 + rng.IntN(4))
		switch k := rng.IntN(10); {
		case k < 6:
			run := job.RunID{Job: id, At: now + instant.Millis(rng.IntN(4000)), Seq: rng.Uint32()}
			p.Add([]Launch{{Run: run, Due: run.At, Attempt: 1}}, now)
			twin = append(twin, run)
		case k < 7:
			for _, l := range p.Take(id) {
				i := slices.IndexFunc(twin, func(r job.RunID) bool { return r.Job == id })
				if i < 0 || twin[i] != l.Run {
					t.Fatalf("seed %d: took %s, which is not the oldest of its job", seed, l.Run)
				}
				twin = slices.Delete(twin, i, i+1)
			}
			if slices.ContainsFunc(twin, func(r job.RunID) bool { return r.Job == id }) {
				t.Fatalf("seed %d: launches of job %s were left behind", seed, id)
			}
		case k < 8 && len(twin) > 0:
			i := rng.IntN(len(twin))
			p.EndRuns([]job.RunID{twin[i]}, now.Time())
			twin = slices.Delete(twin, i, i+1)
		default:
			now += instant.Millis(rng.IntN(500))
			feedAndLaunch(p, now)
			for _, run := range sender.left {
				i := slices.Index(twin, run)
				if i < 0 || run.At > now {
					t.Fatalf("seed %d: %s left early, or twice", seed, run)
				}
				twin = slices.Delete(twin, i, i+1)
			}
			sender.left = nil
		}
		due := 0
		for _, run := range twin {
			if run.At <= now {
				due++
			}
		}
		if load := p.Count(now); load.Waiting != len(twin) || load.Backlog != due || load.Scheduled != len(twin)-due {
			t.Fatalf("seed %d: %+v, want %d launches, %d of them due", seed, load, len(twin), due)
		}
	}
}

func feedAndLaunch(p *Pad, now instant.Millis) {
	for chunk, _ := p.unreadChunk(now, nil); len(chunk) > 0; chunk, _ = p.unreadChunk(now, nil) {
		for _, w := range chunk {
			p.ready(w, &job.Delivery{Run: w.Run, Attempt: w.Attempt}, nil, now)
		}
	}
	for more := true; more; {
		more, _ = p.launchDue(now, nil)
	}
}

// TestPadDropsAtOnce: of a job with very many launches on the pad each leaves in the same time, be it the
// oldest. The count of steps would be the square of their number else, and the test would not end.
func TestPadDropsAtOnce(t *testing.T) {
	const launches = 300_000
	sender := &heldSender{}
	p := New(Options{Sender: sender, Report: func(job.Outcome, bool) {}})
	for i := range instant.Millis(launches) {
		p.Add([]Launch{{Run: job.RunID{Job: 1, At: i + 1}, Due: 1, Attempt: 1}}, 1)
	}
	feedAndLaunch(p, 1)
	if load := p.Count(1); load.Waiting != 0 || load.Flying != launches || len(p.byJob) != 0 {
		t.Errorf("%+v", load)
	}
}
