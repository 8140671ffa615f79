package scheduler

import "slices"

// A tick is missed if no engine led when it came due. The model knows when one did from what the world does
// to it: a process that is down, a clock that is set, a commit that takes its time.

// modelPresence is when the engine was at work.
type modelPresence struct {
	since int64      // in this life
	gaps  [][2]int64 // in which it stood still; what came due inside is missed
	still int64      // when it began to stand still; 0: it has not since its last step
	step  int64      // wall clock of the last step
	top   int64      // of the wall clock in this life
}

func (p *modelPresence) start(now int64) { *p = modelPresence{since: now, step: now, top: now} }

// stand takes in that time passes, or the clock is set, while the engine does nothing about it.
func (p *modelPresence) stand(now int64) {
	if p.still == 0 {
		p.still = now
	}
}

// attend takes in that the engine makes a step.
func (m *model) attend(now int64) {
	p, allowed := &m.presence, m.settings.grace+2000
	if now < p.step {
		for _, j := range m.order {
			j.away = min(j.away, now)
		}
		p.since = min(p.since, now)
		kept := p.gaps[:0]
		for _, g := range p.gaps {
			if g[0] < now {
				kept = append(kept, [2]int64{g[0], min(g[1], now)})
			}
		}
		p.gaps = kept
	} else if from := max(p.still, p.step+m.settings.lead); p.still != 0 && from < now-allowed {
		p.gaps = append(p.gaps, [2]int64{from, now - allowed}) // its last step had in hand what came due before
	}
	p.step, p.still, p.top = now, 0, max(p.top, now)
}

// missedUntil returns from when on ticks are on time again, if one that came due at an instant was missed;
// else 0.
func (m *model) missedUntil(j *modelJob, due int64) (edge int64) {
	if due >= m.now-m.settings.grace {
		return 0
	}
	if back := j.away - m.settings.grace; due < back {
		edge = back
	}
	if since := m.presence.since - m.settings.grace; due < since {
		return max(edge, since)
	}
	for _, g := range m.presence.gaps {
		if due > g[0] && due < g[1] {
			return max(edge, g[1])
		}
	}
	return edge
}

// isMissed reports whether a tick that came due at an instant was surely missed. While ticks wait for a share, the
// engine looks at the clock every half a second, and for so long it may not have noticed that it stood still.
// An update that takes the jitter from a job brings a launch that was put off beyond a gap into it. The
// tick comes due with the update then, while the engine leads, which may have forgotten the gap: all that came due in
// it was decided. If it still remembers it, the tick counts as missed.
func (m *model) isMissed(j *modelJob, tick, due int64) bool {
	for _, g := range m.presence.gaps {
		unseen := (m.settings.liveMax > 0 || m.quotas.live) && due > g[0] && due <= g[0]+500
		nearer := tick == j.nearTick && j.nearFrom > g[1] && due > g[0] && due < g[1]
		if unseen || nearer && due >= max(j.away, m.presence.since)-m.settings.grace {
			return false
		}
	}
	return m.missedUntil(j, due) != 0
}

// edges returns up to where the ticks of a job may be missed: one may be put off by its jitter, and the first
// ones may have no outcome because an update came too late for them.
func (m *model) edges(j *modelJob) (edges []int64) {
	for tick := j.next(); tick != 0 && tick < m.now; tick = j.ticks.next(tick) {
		last := tick + max(0, j.def.jitter-1)
		dues := []int64{tick, last}
		for _, g := range m.presence.gaps {
			if tick < g[1] && last > g[0] {
				dues = append(dues, max(tick, g[0]+1))
			}
		}
		for _, due := range dues {
			if edge := m.missedUntil(j, due); edge != 0 && !slices.Contains(edges, edge) {
				edges = append(edges, edge)
			}
		}
		if !j.mayPass(tick) && !m.following {
			break
		}
	}
	return edges
}
