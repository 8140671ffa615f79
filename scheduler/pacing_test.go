package scheduler

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestPacingFor: the farther ahead a scheduler is, and the more shards there are, the longer it waits for company, within bounds.
func TestPacingFor(t *testing.T) {
	for lead, want := range map[time.Duration]pacing{
		time.Millisecond:       minPacing,
		20 * time.Millisecond:  minPacing,
		250 * time.Millisecond: {decisions: 50 * time.Millisecond, outcomes: 50 * time.Millisecond},
		10 * time.Second:       {decisions: 100 * time.Millisecond, outcomes: 50 * time.Millisecond},
		time.Minute:            {decisions: 100 * time.Millisecond, outcomes: 50 * time.Millisecond},
	} {
		for _, shards := range []int{0, 1} {
			if got := pacingFor(lead, 0, shards); got != want {
				t.Errorf("%s ahead, %d shards: %+v, want %+v", lead, shards, got, want)
			}
		}
	}
	for shards, want := range map[int]pacing{
		2:   {200 * time.Millisecond, 100 * time.Millisecond, rounds{100 * time.Millisecond, 0}},
		4:   {400 * time.Millisecond, 200 * time.Millisecond, rounds{200 * time.Millisecond, 0}},
		16:  {time.Second, 250 * time.Millisecond, rounds{250 * time.Millisecond, 62_500 * time.Microsecond}},
		256: {time.Second, 250 * time.Millisecond, rounds{250 * time.Millisecond, 31_250 * time.Microsecond}},
	} {
		if got := pacingFor(10*time.Second, 1, shards); got != want {
			t.Errorf("%d shards: %+v, want %+v", shards, got, want)
		}
	}
	if got, want := pacingFor(time.Second, 0, 16), (pacing{100 * time.Millisecond, 100 * time.Millisecond, rounds{every: 100 * time.Millisecond}}); got != want {
		t.Errorf("16 shards, a second ahead: %+v, want %+v", got, want)
	}
}

// TestOutcomesWait: an outcome that frees nothing waits for company, also one that a step has left over, and one that something
// may wait for does not.
func TestOutcomesWait(t *testing.T) {
	const patience = 50 * time.Millisecond
	q := outcomeQueue{ready: make(chan struct{}, 1)}
	if _, some := q.stepAt(pacing{outcomes: patience}); some {
		t.Error("an empty queue asks for a step")
	}
	within := func(what string, most time.Duration) {
		t.Helper()
		at, some := q.stepAt(pacing{outcomes: patience})
		if wait := time.Until(at); !some || wait > most || most == patience && wait < patience/2 {
			t.Errorf("%s: the next step is in %s (%t), want about %s", what, wait, some, most)
		}
	}
	heard := func() bool {
		select {
		case <-q.ready:
			return true
		default:
			return false
		}
	}
	q.add(job.Outcome{}, true)
	if within("the first", patience); !heard() {
		t.Error("the loop does not hear of the first outcome")
	}
	if q.add(job.Outcome{}, true); heard() {
		t.Error("the loop hears of another one that may wait")
	}
	q.add(job.Outcome{}, false)
	if within("an urgent one", minPacing.outcomes); !heard() {
		t.Error("the loop does not hear of the urgent one")
	}
	q.drop(1)
	within("an urgent one that is left over", minPacing.outcomes)
	q.drop(2)
	q.add(job.Outcome{}, true)
	within("the next one", patience)
	q.add(job.Outcome{}, true)
	q.drop(1)
	within("one that came during a commit and may wait", patience)
}

// slowLog is a log on a device that takes a while, in which runs go on to end.
type slowLog struct{ *stillLog }

// Append implements Log.
func (l slowLog) Append(epoch uint64, batch []byte) (job.Position, error) {
	time.Sleep(3 * time.Millisecond)
	return l.stillLog.Append(epoch, batch)
}

// TestOutcomesDelayNoOtherWork: work that was left over, or is due soon, does not wait because an outcome may.
func TestOutcomesDelayNoOtherWork(t *testing.T) {
	e := must(Open(Options{Log: &stillLog{}, Store: newMemStore(), Sender: &shortSender{left: make(map[string]int)}, Settings: Settings{Lead: 10 * time.Second}}))
	g := gathering{engine: e, pace: pacingFor(10*time.Second, 0, 1), lastStep: time.Now()}
	e.outcomes.add(job.Outcome{}, true)
	for what, at := range map[string][2]instant.Millis{
		"left over":        {instant.LongAgo, instant.LongAgo},
		"due in 5 ms":      {instant.Of(time.Now()) + 5, instant.Of(time.Now()) + 5},
		"hardly far ahead": {instant.LongAgo, instant.Of(time.Now()) + 5},
	} {
		g.wakeAt, g.latest = at[0], at[1]
		if wait := g.patience(); wait > minPacing.decisions {
			t.Errorf("%s: the loop waits %s, want at most %s", what, wait, minPacing.decisions)
		}
	}
	g.wakeAt, g.latest = 0, 0
	if wait := g.patience(); wait > g.pace.outcomes || wait < g.pace.outcomes/2 {
		t.Errorf("the loop waits %s for the outcome alone, want about %s", wait, g.pace.outcomes)
	}
}

// TestPacedCommits: two hundred jobs, whose runs come at all times and take a millisecond, so that some end during each
// commit, need few commits. A busy machine makes fewer commits, never more.
func TestPacedCommits(t *testing.T) {
	for lead, most := range map[time.Duration]uint64{250 * time.Millisecond: 20 + 20, 10 * time.Second: 10 + 20} {
		t.Run(lead.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r := &restless{log: &stillLog{}, served: make(chan error, 1)}
			sender := &shortSender{left: make(map[string]int)}
			r.Engine = must(Open(Options{Log: slowLog{r.log}, Store: newMemStore(), Sender: sender, Settings: Settings{Lead: lead}}))
			go func() { r.served <- r.Serve(ctx) }()
			for i := range 200 {
				d := oneShot(fmt.Sprintf("j%03d", i), 0)
				d.Schedule = "@every 1s"
				d.StartsAt = instant.Of(time.Now().Add(time.Duration(i) * 5 * time.Millisecond))
				if _, _, err := r.Put(ctx, d, nil); err != nil {
					t.Fatal(err)
				}
			}
			if !testkit.Poll(ctx, func() bool { return r.Status().Succeeded >= 200 }) {
				t.Fatal("the jobs do not run")
			}
			before, began, fired := r.commits(), time.Now(), r.Status().Succeeded
			if !testkit.Poll(ctx, func() bool { return r.Status().Succeeded >= fired+400 }) {
				t.Fatal("the jobs do not go on")
			}
			// The bound is for each second that it took, with half a second for where the measurement begins and ends.
			if n := r.commits() - before; float64(n) > float64(most)*(time.Since(began).Seconds()+0.5) {
				t.Errorf("%d commits in %s, want at most %d a second", n, time.Since(began), most)
			}
			r.Drain(ctx)
			cancel()
			if err := <-r.served; err != nil {
				t.Error(err)
			}
		})
	}
}
