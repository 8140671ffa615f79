package pad

import (
	"errors"
	"runtime"
	"slices"
	"sync"
)

// Ticks are the threads of a process that launch what is due: one, if there are no more pads, and at most as many as it was
// made for. A pad has the same one from Arm to Disarm, the one that served the fewest pads then. Safe for concurrent use.
type Ticks struct {
	most int

	mu    sync.Mutex
	ticks []*tick // with pads that are armed
}

// NewTicks returns the ticks of a process, at most so many threads. 0 means half of the processors, and one at least: more
// would leave none for what launches need besides.
func NewTicks(most int) *Ticks {
	if most <= 0 {
		most = max(1, runtime.NumCPU()/2)
	}
	return &Ticks{most: most}
}

// take gives a pad its place at a tick.
func (t *Ticks) take(p *Pad) (*seat, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.ticks) < t.most {
		alarm, err := newAlarm()
		if err != nil {
			return nil, err
		}
		t.ticks = append(t.ticks, &tick{alarm: alarm})
	}
	one := slices.MinFunc(t.ticks, func(a, b *tick) int { return a.armed - b.armed })
	one.armed++
	return &seat{pad: p, tick: one}, nil
}

// release frees the place of a pad that is not served, and the alarm of its tick with the last of them.
func (t *Ticks) release(s *seat) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := s.tick
	if one.armed--; one.armed > 0 {
		return nil
	}
	t.ticks = slices.DeleteFunc(t.ticks, func(other *tick) bool { return other == one })
	return one.alarm.close()
}

// Arm gives the pad its place at a tick. That may make the alarm of the tick, a resource of the system, which Close or Disarm
// frees. Arm must be called before Serve, while no other method runs. It is separate from New because an engine that stands
// by has a pad and needs no thread.
func (p *Pad) Arm() error {
	if p.seat != nil {
		return errors.New("pad: armed twice")
	}
	s, err := p.ticks.take(p)
	if err != nil {
		return err
	}
	p.seat, p.wake = s, s.wake
	return nil
}

// Disarm frees the place of the pad at its tick, without Close. It does nothing on a pad that has none. Serve must not be
// running.
func (p *Pad) Disarm() error {
	s := p.seat
	if s == nil {
		return nil
	}
	p.seat = nil
	return p.ticks.release(s)
}
