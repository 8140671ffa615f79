package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/scheduler/core"
)

// usualEvery is the time between two looks at the usual rate of the other shards. It is smoothed over a minute.
const usualEvery = time.Second

// usualElsewhere is the usual rate of the other shards, as the loop saw it last.
type usualElsewhere struct {
	last core.Usual
	at   time.Time
}

// read returns the usual rate of the other shards, which it looks up about once a second.
func (u *usualElsewhere) read(e *Engine) core.Usual {
	if e.opts.Usual == nil {
		return core.Usual{}
	}
	if now := e.opts.Clock.Now(); u.at.IsZero() || now.Sub(u.at).Abs() >= usualEvery {
		u.last, u.at = e.opts.Usual(), now
	}
	return u.last
}

// UsualRate returns how many runs fire on time a second, smoothed over about a minute, as of the last step. It is far cheaper
// than [Engine.Status], and safe for concurrent use.
func (e *Engine) UsualRate() float64 {
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	return e.gauge.status.CatchUp.Usual
}
