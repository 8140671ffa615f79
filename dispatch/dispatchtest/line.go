package dispatchtest

import (
	"sync"

	"github.com/carillon-io/carillon/job"
)

// Line launches attempts in order, each as soon as a place is free for it, as the engine does. Use
// NewLine. It is safe for concurrent use.
type Line struct {
	sender  Sender
	mu      sync.Mutex
	waiting map[job.Lane][]attempt
	asked   map[job.Lane]int // payload bytes of the pending Reserve of each lane
}

// attempt is a launch that waits for its place.
type attempt struct {
	delivery *job.Delivery
	done     func(job.Outcome)
}

// NewLine returns a line before a sender.
func NewLine(s Sender) *Line {
	return &Line{sender: s, waiting: make(map[job.Lane][]attempt), asked: make(map[job.Lane]int)}
}

// Launch launches the attempt now, or when a place is free.
func (l *Line) Launch(d *job.Delivery, done func(job.Outcome)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := d.Lane()
	l.waiting[key] = append(l.waiting[key], attempt{d, done})
	if len(l.waiting[key]) == 1 {
		l.fill(key)
	}
}

// Waiting returns the number of attempts that wait for a place.
func (l *Line) Waiting() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, attempts := range l.waiting {
		n += len(attempts)
	}
	return n
}

// Drop removes the attempts that wait for a place. Their done is never called.
func (l *Line) Drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.waiting)
}

// fill launches waiting attempts of a lane while places are free.
func (l *Line) fill(key job.Lane) {
	for len(l.waiting[key]) > 0 {
		weight := len(l.waiting[key][0].delivery.Payload)
		if !l.sender.Reserve(key, weight, func() bool { return l.room(key) }) {
			l.asked[key] = weight
			return
		}
		l.launchFirst(key)
	}
}

func (l *Line) launchFirst(key job.Lane) {
	a := l.waiting[key][0]
	l.waiting[key] = l.waiting[key][1:]
	l.sender.Launch(a.delivery, a.done)
}

// room accepts a place for the first waiting attempt; it returns false if none waits any more.
func (l *Line) room(key job.Lane) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	takes := len(l.waiting[key]) > 0 && len(l.waiting[key][0].delivery.Payload) == l.asked[key]
	if takes {
		l.launchFirst(key)
	}
	l.fill(key)
	return takes
}
