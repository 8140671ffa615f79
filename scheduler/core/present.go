package core

import (
	"slices"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// A tick is missed if no engine led when it came due. Whether one led is kept here, as the instant since which this
// engine leads and the gaps in which it stood still. How long a tick waits for its decision afterwards does not
// matter: a tick of a herd that came due while the engine led is on time, and is fired at full speed.
//
// The core detects a gap by the instant at which it asked to be called again. Nothing is due before that instant, so
// a step that comes at it or earlier has missed nothing, however long the engine slept. A step that comes later
// leaves a gap between the two. Ticks that came due within the lead after the last step are not in the gap: that step
// has decided them or moved them to the backlog. A stopped process, a suspended machine and a wall clock that is set
// forward look the same and are treated the same: ticks that came due in the gap met no engine.

// stillSlackMillis is how much longer than the grace the engine may stand still without missing a tick: a commit that
// waits for a slow disk is not an outage. A larger one fires ticks as if on time that callers would call missed; a
// smaller one makes a slow disk skip runs.
const stillSlackMillis = 2_000

// gapsMax bounds the gaps that are remembered. They are dropped as soon as everything that was due is decided, so a
// larger number needs a backlog that outlives several outages. Beyond the bound, the two oldest gaps become one.
const gapsMax = 64

// presence records when an engine led.
type presence struct {
	since instant.Millis // no engine led before it, as far as this core knows
	gaps  []gap          // in the order of time
	// away holds the jobs that came back with ticks of the past, and since when. Only they have the mark markAway.
	away map[job.ID]instant.Millis
}

// gap is a time in which no engine led. Ticks that came due in it are missed; both ends are excluded.
type gap struct{ from, to instant.Millis }

// newPresence returns a presence that begins at an instant: ticks that were due before it, by more than the grace, are
// missed.
func newPresence(now instant.Millis) presence {
	return presence{since: now, away: make(map[job.ID]instant.Millis)}
}

// begin records that an engine leads from an instant on.
func (p *presence) begin(now instant.Millis) { p.since, p.gaps = now, nil }

// attend records that a step begins. The last step began at last, handled what is due within the lead after it, and
// asked for the next step at due; 0 means never.
func (p *presence) attend(now, last, due, lead, grace instant.Millis) {
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

// setBack records that the clock shows an earlier instant. No instant that the clock will show again may lie in a gap.
// Otherwise ticks that come due in the repeated time would count as missed, although the engine leads.
func (p *presence) setBack(now instant.Millis) {
	p.since = min(p.since, now)
	for id, at := range p.away {
		p.away[id] = min(at, now)
	}
	p.gaps = slices.DeleteFunc(p.gaps, func(g gap) bool { return g.from >= now })
	if n := len(p.gaps); n > 0 {
		p.gaps[n-1].to = min(p.gaps[n-1].to, now)
	}
}

// allDecided drops the gaps, because all ticks that came due in them are decided.
func (p *presence) allDecided() {
	if len(p.gaps) > 0 {
		p.gaps = p.gaps[:0]
	}
}

// missedUntil reports whether a tick that came due at an instant was missed, and returns the first instant from which
// on ticks are on time again.
func (p *presence) missedUntil(due, grace instant.Millis) (edge instant.Millis, missed bool) {
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

// graceMillis is how late a tick may be decided and still be on time, even if no engine led.
func (c *Core) graceMillis() instant.Millis { return instant.Millis(c.settings.Grace.Milliseconds()) }

// grace returns the earliest instant at which a tick is on time now, whether an engine led or not.
func (c *Core) grace() instant.Millis { return c.now - c.graceMillis() }

// missedUntil reports whether the tick at the cursor of a job was missed, and returns the end, excluded, of the
// missed ticks. A tick is missed if no engine led when it came due, or if the job itself was away.
func (c *Core) missedUntil(r *hotRow) (edge instant.Millis, missed bool) {
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

// isLate reports whether the tick at the cursor of a job was missed.
func (c *Core) isLate(r *hotRow) bool {
	_, missed := c.missedUntil(r)
	return missed
}

// wasAway records that a job comes back with ticks of the past: it was paused, or is registered for an instant that
// has passed. Such ticks count as missed, though the engine led.
func (c *Core) wasAway(r *hotRow) {
	if r.cursor < c.grace() && !r.flags.Is(job.FlagCompleted) {
		r.marks |= markAway
		c.presence.away[r.id] = c.now
	}
}

// isBack drops that record, because the ticks of that time are decided or will not be.
func (c *Core) isBack(r *hotRow) {
	if r.marks.is(markAway) {
		r.marks &^= markAway
		delete(c.presence.away, r.id)
	}
}
