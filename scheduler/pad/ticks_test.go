package pad

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// punctual notes when launches leave.
type punctual struct {
	sender
	mu   sync.Mutex
	late map[job.RunID]time.Duration
}

// Launch implements Sender.
func (s *punctual) Launch(d *job.Delivery, _ func(job.Outcome)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late[d.Run] = time.Since(d.Run.At.Time())
}

func (s *punctual) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.late)
}

// sender has places for all.
type sender struct{}

// Reserve implements Sender.
func (sender) Reserve(job.Lane, int, func() bool) bool { return true }

// Release implements Sender.
func (sender) Release(job.Lane, int) {}

// oneRow answers with the same row whatever the key.
type oneRow []byte

// Get implements Rows.
func (r oneRow) Get([]byte) ([]byte, bool, error) { return r, true, nil }

// rowOfJob returns the row of a job with a subject of NATS as its target.
func rowOfJob(t *testing.T) (row oneRow) {
	t.Helper()
	var b job.Batch
	b.PutRecord(job.Stamp{ID: 1, Version: 1}, job.EncodeDefinition(&job.Definition{Tenant: "t", Name: "n", Target: job.Target{Kind: job.TargetNATS, Subject: "s"}}))
	err := job.Changes(b.Bytes(), func(c job.Change) error {
		row = append(oneRow{}, c.Value...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// served is a pad that is served until the test ends, or until end.
func served(t *testing.T, ticks *Ticks, s Sender) (p *Pad, end func()) {
	t.Helper()
	return servedBy(t, Options{Sender: s, Ticks: ticks})
}

// servedBy is served with options of the caller.
func servedBy(t *testing.T, o Options) (p *Pad, end func()) {
	t.Helper()
	o.Rows, o.Report = rowOfJob(t), func(job.Outcome, bool) {}
	p = New(o)
	if err := p.Arm(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { p.Serve(ctx, 1); close(ended) }()
	testkit.Until(t, "the tick serves the pad", func() bool {
		p.seat.tick.mu.Lock()
		defer p.seat.tick.mu.Unlock()
		return slices.Contains(p.seat.tick.seats, p.seat)
	})
	end = sync.OnceFunc(func() {
		cancel()
		<-ended
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return p, end
}

// launchAt adds a launch of a job that is due at an instant.
func launchAt(p *Pad, id job.ID, at instant.Millis) {
	p.Add([]Launch{{Run: job.RunID{Job: id, At: at}, Due: at, Attempt: 1, Mode: ModeFree}}, instant.Of(time.Now()))
}

// TestPadsShareATick: the launches of many pads leave through one thread, none of them early, also those that come while the
// thread sleeps until a later one.
func TestPadsShareATick(t *testing.T) {
	ticks, s := NewTicks(1), &punctual{late: make(map[job.RunID]time.Duration)}
	const pads, each = 8, 50
	for n := range pads {
		p, _ := served(t, ticks, s)
		launchAt(p, job.ID(n), instant.Of(time.Now().Add(400*time.Millisecond))) // the tick sleeps until then
		for i := range each {
			launchAt(p, job.ID(n), instant.Of(time.Now().Add(time.Duration(i*3)*time.Millisecond)))
		}
	}
	if n := len(ticks.ticks); n != 1 || ticks.ticks[0].armed != pads {
		t.Fatalf("%d ticks; want one for all pads", n)
	}
	testkit.Until(t, "all launches", func() bool { return s.count() >= pads*each })
	for run, late := range s.late {
		if late < 0 {
			t.Errorf("%s left %s early", run, -late)
		}
	}
}

// TestBusyPadDelaysNoOther: while a goroutine has the lock of a pad in which something is due, the launches of another pad of
// the tick leave; and those of the busy pad soon after the lock is free.
func TestBusyPadDelaysNoOther(t *testing.T) {
	now := instant.Millis(10_000).Time()
	var seats []*seat
	var senders []*heldSender
	for range 2 {
		s := &heldSender{}
		p := New(Options{Sender: s, Report: func(job.Outcome, bool) {}, Now: func() time.Time { return now }})
		launchAt(p, 1, 10_100)
		for _, w := range first(p.unreadChunk(10_000, nil)) {
			p.ready(w, &job.Delivery{Run: w.Run, Attempt: 1}, nil, 10_000)
		}
		seats, senders = append(seats, &seat{pad: p}), append(senders, s)
	}
	now = now.Add(100 * time.Millisecond)
	busy := seats[0].pad
	busy.sending.Lock()
	round(seats, nil)
	busy.sending.Unlock()
	if len(senders[0].left) != 0 || len(senders[1].left) != 1 {
		t.Errorf("%d launches of the busy pad left, and %d of the other; want 0 and 1", len(senders[0].left), len(senders[1].left))
	}
	if wait := seats[0].look.Sub(now); wait > busyPause {
		t.Errorf("the tick looks at the busy pad again after %s", wait)
	}
	now = now.Add(busyPause)
	round(seats, nil)
	if len(senders[0].left) != 1 {
		t.Error("the launch of the busy pad has not left once its lock is free")
	}
}

func first(chunk []*waiting, _ time.Duration) []*waiting { return chunk }

// TestTickLetsGo: nothing of a pad leaves once Serve has returned, while its tick goes on with others; and the tick ends with
// its last pad.
func TestTickLetsGo(t *testing.T) {
	ticks := NewTicks(1)
	first, second := &punctual{late: make(map[job.RunID]time.Duration)}, &punctual{late: make(map[job.RunID]time.Duration)}
	a, endA := served(t, ticks, first)
	b, endB := served(t, ticks, second)
	launchAt(a, 1, instant.Of(time.Now().Add(time.Hour)))
	endA()
	launchAt(a, 1, instant.Of(time.Now()))
	launchAt(b, 2, instant.Of(time.Now()))
	testkit.Until(t, "the launch of the other pad", func() bool { return second.count() == 1 })
	if first.count() != 0 {
		t.Error("a launch left after its pad was closed")
	}
	endB()
	if len(ticks.ticks) != 0 {
		t.Errorf("%d ticks are left without a pad", len(ticks.ticks))
	}
}

// TestTicksAreBounded: pads are spread over as many ticks as are wanted, and a tick that lost its pads gets the next.
func TestTicksAreBounded(t *testing.T) {
	ticks := NewTicks(2)
	var pads []*Pad
	for range 5 {
		p := New(Options{Ticks: ticks})
		if err := p.Arm(); err != nil {
			t.Fatal(err)
		}
		pads = append(pads, p)
	}
	spread := func() string {
		var text string
		for _, one := range ticks.ticks {
			text += fmt.Sprint(one.armed, " ")
		}
		return text
	}
	if got := spread(); got != "3 2 " {
		t.Errorf("the ticks have %spads; want 3 2", got)
	}
	for _, p := range pads {
		if err := p.Disarm(); err != nil {
			t.Error(err)
		}
	}
	if got := spread(); got != "" {
		t.Errorf("the ticks have %spads; want none", got)
	}
}

// TestWakeRingsForWhatIsSooner: a launch that is due before the tick wakes by itself rings, and one that is due later does not.
func TestWakeRingsForWhatIsSooner(t *testing.T) {
	alarm, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alarm.close() }()
	s := &seat{tick: &tick{alarm: alarm}}
	s.tick.wakeAt.Store(1000)
	s.wake(999)
	alarm.sleep(time.Hour) // it has rung
	for wakeAt, due := range map[instant.Millis]instant.Millis{1000: 1000, awake: instant.LongAgo} {
		s.tick.wakeAt.Store(int64(wakeAt))
		s.wake(due)
		began, pause := time.Now(), 5*time.Millisecond
		if alarm.sleep(pause); time.Since(began) < pause {
			t.Errorf("a tick that wakes at %d was rung for a launch that is due at %d", wakeAt, due)
		}
	}
	if !s.stirred.Load() {
		t.Error("the tick does not know that there is something to launch")
	}
}
