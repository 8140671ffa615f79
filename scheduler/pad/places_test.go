package pad

import (
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// placeSender has so many places for a lane, and keeps what leaves.
type placeSender struct {
	heldSender
	most  int
	taken map[job.Lane]int
	asks  map[job.Lane]func() bool
	lanes []job.Lane // of what left
}

func newPlaceSender(most int) *placeSender {
	return &placeSender{most: most, taken: make(map[job.Lane]int), asks: make(map[job.Lane]func() bool)}
}

// Reserve implements Sender.
func (s *placeSender) Reserve(key job.Lane, _ int, room func() bool) bool {
	if s.asks[key] != nil {
		panic("a lane asks twice")
	}
	if s.taken[key] < s.most {
		s.taken[key]++
		return true
	}
	s.asks[key] = room
	return false
}

// Release implements Sender.
func (s *placeSender) Release(key job.Lane, _ int) {
	s.taken[key]--
	for s.asks[key] != nil && s.taken[key] < s.most {
		room := s.asks[key]
		delete(s.asks, key)
		s.taken[key]++
		if !room() {
			s.taken[key]--
		}
	}
}

// Launch implements Sender.
func (s *placeSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	s.heldSender.Launch(d, done)
	s.lanes = append(s.lanes, d.Lane())
	if key := d.Lane(); s.taken[key] > s.most || s.taken[key] < 1 {
		panic(fmt.Sprintf("%d places are taken in %v", s.taken[key], key))
	}
}

// answer ends an attempt.
func (s *placeSender) answer(i int) {
	done, key := s.done[i], s.lanes[i]
	run := s.left[i]
	s.left, s.done, s.lanes = slices.Delete(s.left, i, i+1), slices.Delete(s.done, i, i+1), slices.Delete(s.lanes, i, i+1)
	done(job.Outcome{Run: run, Attempt: 1})
	s.Release(key, 0)
}

// laneTest drives a pad before a sender with few places.
type laneTest struct {
	*Pad
	sender   *placeSender
	now      instant.Millis
	trusted  bool
	outcomes []job.Outcome
	reads    int
	inHand   []*waiting // taken by a feeder, not ready yet
}

func newLaneTest(places int) *laneTest {
	l := &laneTest{sender: newPlaceSender(places), now: 10_000, trusted: true}
	l.Pad = New(Options{
		Sender: l.sender,
		Report: func(o job.Outcome, _ bool) { l.outcomes = append(l.outcomes, o) },
		Now:    func() time.Time { return l.now.Time() },
		Trust: func() time.Duration {
			if l.trusted {
				return time.Hour
			}
			return 0
		},
	})
	return l
}

// rest does what there is to do at this instant. The target of a run is that of its job.
func (l *laneTest) rest() {
	for more := true; more; {
		l.feed()
		l.handOn(len(l.inHand))
		more, _ = l.launchDue(l.now, nil)
		more = more || l.wants()
	}
}

// feed lets the feeders take launches in hand.
func (l *laneTest) feed() { l.inHand, _ = l.unreadChunk(l.now, l.inHand) }

// handOn lets the feeders make ready the first n of what they have in hand.
func (l *laneTest) handOn(n int) {
	for _, w := range l.inHand[:n] {
		l.reads++
		target := job.Target{Kind: job.TargetRequest, Subject: fmt.Sprint("t", w.Run.Job%3)}
		l.ready(w, &job.Delivery{Run: w.Run, Attempt: w.Attempt, Target: target}, nil, l.now)
	}
	l.inHand = slices.Delete(l.inHand, 0, n)
}

// launches returns launches of a job, a millisecond apart.
func (l *laneTest) launches(id job.ID, n int) (out []Launch) {
	for i := range n {
		at := l.now + instant.Millis(i)
		out = append(out, Launch{Run: job.RunID{Job: id, At: at}, Due: at, Attempt: 1})
	}
	return out
}
