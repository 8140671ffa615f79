package scheduler

import (
	"slices"

	"github.com/carillon-io/carillon/job"
)

// A tick is missed if no engine led when it came due. Whether one did is kept here, as the instants
// since when this one leads and the gaps in which it stood still. How long a tick waits for its decision
// after that does not matter: a tick of a herd that came due while the engine led is on time, and is fired
// at full speed.
//
// The core sees a gap by the instant at which it asked to be called again: nothing is due before that
// instant, so a step that comes at it or earlier has missed nothing, however long the engine slept. A step
// that comes later leaves a gap between the two. What came due within the lead after the last step is not in
// it: that step had it in hand, be it decided or in the backlog. A stopped process, a suspended machine and a wall clock
// that is set forward all look alike, and are alike: what came due in the gap met no engine.

// stillSlackMillis is how much longer than the grace the engine may stand still without a tick being missed:
// a commit that waits for a slow disk is no outage.
const stillSlackMillis = 2_000

// gapsMax bounds the gaps that are remembered. They are forgotten as soon as all that was due is decided, so
// more than a few need a backlog that outlives several outages. Of more, the oldest two become one.
const gapsMax = 64

// presence is when an engine led.
type presence struct {
	since job.Millis // no engine led before it, as far as it is known
	gaps  []gap      // in the order of time
	away  map[job.ID]job.Millis
}

// gap is a time in which no engine led: what came due in it is missed, both ends excluded.
type gap struct{ from, to job.Millis }

func newPresence(now job.Millis) presence {
	return presence{since: now, away: make(map[job.ID]job.Millis)}
}

// begin makes an engine present from an instant on.
func (p *presence) begin(now job.Millis) { p.since, p.gaps = now, nil }

// attend takes in that a step begins. The last one began at last, had in hand what is due within the lead after it,
// and asked for the next step at due; 0 is never.
func (p *presence) attend(now, last, due, lead, grace job.Millis) {
	if now < last { // the clock was set back
		p.setBack(now)
		return
	}
	from, to := max(last+lead, due), now-grace-stillSlackMillis
	if due == 0 || from >= to {
		return
	}
	p.gaps = append(p.gaps, gap{from, to})
	if len(p.gaps) > gapsMax {
		p.gaps[1].from = p.gaps[0].from
		p.gaps = slices.Delete(p.gaps, 0, 1)
	}
}

// setBack takes in that the clock shows an earlier instant: none that it will show again lies in a gap.
func (p *presence) setBack(now job.Millis) {
	p.since = min(p.since, now)
	for id, at := range p.away {
		p.away[id] = min(at, now)
	}
	p.gaps = slices.DeleteFunc(p.gaps, func(g gap) bool { return g.from >= now })
	if n := len(p.gaps); n > 0 {
		p.gaps[n-1].to = min(p.gaps[n-1].to, now)
	}
}

// settled forgets the gaps, because all that came due in them is decided.
func (p *presence) settled() {
	if len(p.gaps) > 0 {
		p.gaps = p.gaps[:0]
	}
}

// missedUntil returns the first instant from which on ticks are on time again, if one that came due at an
// instant was missed.
func (p *presence) missedUntil(due, grace job.Millis) (edge job.Millis, missed bool) {
	if edge = p.since - grace; due < edge {
		return edge, true
	}
	for _, g := range p.gaps {
		if due > g.from && due < g.to {
			return g.to, true
		}
	}
	return 0, false
}

// graceMillis is how late a tick may be decided and still count as on time, though no engine led.
func (c *Core) graceMillis() job.Millis { return job.Millis(c.settings.Grace.Milliseconds()) }

// grace returns the earliest instant that a tick may lie at and still be on time, whether an engine led or
// not.
func (c *Core) grace() job.Millis { return c.now - c.graceMillis() }

// missedUntil returns up to where the ticks of a job are missed, that excluded, if the one that it is due for is:
// no engine led when it came due, or the job itself was away.
func (c *Core) missedUntil(r *hotRow) (edge job.Millis, missed bool) {
	if r.cursor >= c.grace() || r.flags.Is(job.FlagCompleted) {
		return 0, false
	}
	due := r.cursor + c.jitterOf(r, c.profiles.get(r.profile), r.cursor)
	if due >= c.grace() {
		return 0, false
	}
	edge, missed = c.presence.missedUntil(due, c.graceMillis())
	if r.marks.is(markAway) {
		if back := c.presence.away[r.id] - c.graceMillis(); due < back {
			return max(edge, back), true
		}
	}
	return edge, missed
}

// isLate tells whether the tick that a job is due for was missed.
func (c *Core) isLate(r *hotRow) bool {
	_, missed := c.missedUntil(r)
	return missed
}

// wasAway notes that a job comes back with ticks of the past: it was paused, or is registered for an
// instant that has passed. Those count as missed, though the engine led.
func (c *Core) wasAway(r *hotRow) {
	if r.cursor < c.grace() && !r.flags.Is(job.FlagCompleted) {
		r.marks |= markAway
		c.presence.away[r.id] = c.now
	}
}

// isBack forgets that a job was away, because its ticks of that time are decided, or will not be.
func (c *Core) isBack(r *hotRow) {
	if r.marks.is(markAway) {
		r.marks &^= markAway
		delete(c.presence.away, r.id)
	}
}
