package scheduler

import "slices"

// What an update makes of ticks: those of the old schedule that have passed and have no outcome end, those that are
// decided stay so, and of the new schedule none is lost that is yet to come.

// replan lets a job tick by another schedule from now on.
func (m *model) replan(j *modelJob, act *modelAct) {
	d := act.def
	ticks := m.ticksOf(d, j.anchorFor(d, m.now))
	if len(j.owed) > 0 {
		m.fail("ledger", j, "the job has another schedule, and owes %s", modelList(j.owed))
	}
	waits := d.at > 0 && j.next() == d.at && j.passed == 0 && (!j.paused || d.paused) // the one-shot stays where it was
	kept := int64(0)
	if len(act.ahead) > 0 && act.ahead[0].tick <= m.now {
		kept = act.ahead[0].tick
	}
	m.checkDropped(j, act, kept)
	m.checkKept(j, act, &ticks, kept)
	m.checkAhead(j, act, &ticks, kept)
	for _, r := range j.live {
		if r.key.seq == 0 && r.attempt == 1 && r.phase == phaseWaiting && r.due > m.now && !d.sameTicks(j.def) && ticks.next(r.key.at-1) != r.key.at {
			m.fail("ledger", j, "the new schedule has no tick for run %s, and it still waits", r.key)
		}
	}
	for _, r := range act.dropped {
		j.settle(r[0], r[1])
	}
	j.takeBeyond()
	for _, a := range act.ahead {
		j.settle(a.tick, a.tick)
		if a.due > 0 {
			j.runs++
		}
	}
	j.ticks, j.resumed, j.done, j.passed, j.behind, j.befores = ticks, false, false, 0, 0, nil
	if j.after = max(m.now, j.high); d.at > 0 {
		if !waits {
			j.away = m.now
		}
		if j.after = d.at - 1; m.isOver(j, d.at) {
			j.after = d.at
		}
	}
}

// isOver reports whether a one-shot is decided, or may have been before what the history goes back to.
func (m *model) isOver(j *modelJob, at int64) bool {
	return m.isSeenDecided(j, at) || at <= j.high && at/modelDay < m.history.pruned
}

// isSeenDecided reports whether the history shows the outcome of an instant. A range is kept for as long as its first tick would be,
// so one that began before that is not seen, although the instant is in it.
func (m *model) isSeenDecided(j *modelJob, at int64) bool {
	if m.settings.historyDays == 0 {
		return j.decided(at)
	}
	oldest := max(m.now-(m.settings.historyDays+1)*modelDay, m.history.pruned*modelDay)
	return slices.ContainsFunc(j.spans, func(s [2]int64) bool { return (s[0] == s[1] || s[0] >= oldest) && s[0] <= at && at <= s[1] })
}

// checkDropped checks that the old ticks of the past got their outcomes, and a one-shot of the past not by that.
func (m *model) checkDropped(j *modelJob, act *modelAct, kept int64) {
	shot := int64(0)
	if act.def.at > 0 && !m.isOver(j, act.def.at) {
		shot = act.def.at
	}
	has := func(at int64) bool {
		return slices.ContainsFunc(act.dropped, func(r [2]int64) bool { return r[0] <= at && at <= r[1] })
	}
	if has(kept) || has(shot) {
		m.fail("ledger", j, "the update dropped %s or %s, and keeps it", modelTime(kept), modelTime(shot))
	}
	for _, r := range act.dropped {
		if j.done || r[0] <= j.after {
			m.fail("ledger", j, "the update dropped ticks from %s on, which have an outcome", modelTime(r[0]))
		}
	}
	if j.done {
		return
	}
	for _, tick := range j.ticks.between(j.after, m.now+1) {
		if !has(tick) && tick != kept && tick != shot && !j.mayPass(tick) && !m.following {
			m.fail("ledger", j, "tick %s of the old schedule has no outcome", modelTime(tick))
		}
	}
}

// checkKept checks that a tick whose launch is still to come is kept if the new schedule has it.
func (m *model) checkKept(j *modelJob, act *modelAct, ticks *modelTicks, kept int64) {
	d, tick := act.def, j.next()
	full := d.maxRuns > 0 && j.runs >= d.maxRuns
	may := tick != 0 && tick <= m.now && !j.paused && !d.paused && d.at == 0 && !full && ticks.next(tick-1) == tick
	if kept != 0 && (!may || kept != tick) && !j.mayPass(tick) && !m.following {
		m.fail("ledger", j, "the update fires %s, which it must not", modelTime(kept))
	}
	if kept == 0 && may && tick+j.putOff(tick) >= m.now-m.settings.grace && len(j.befores) == 0 && !j.mayPass(tick) {
		m.fail("ledger", j, "tick %s is lost, and both schedules have it", modelTime(tick))
	}
}

// checkAhead checks that the update decides those ticks of the new schedule that come before where it begins.
func (m *model) checkAhead(j *modelJob, act *modelAct, ticks *modelTicks, kept int64) {
	d := act.def
	var want []int64
	if d.at == 0 && m.decidesAhead(j, act, kept) {
		for _, tick := range ticks.between(m.now, j.high+1) {
			if !j.decided(tick) {
				want = append(want, tick)
			}
		}
	}
	most := m.settings.aheadMax
	if kept != 0 {
		want = append([]int64{kept}, want...)
	}
	left := max(0, d.maxRuns-j.runs) + act.overQuota()
	full := d.maxRuns > 0 && min(len(want), most) > left && (!d.paused || left == 0) // the job is complete before
	if len(want) > most && !full {
		if rest := restOf(ticks, want[most:]); !slices.Equal(j.beyond, rest) {
			m.fail("ledger", j, "the update skips %v, want %v", j.beyond, rest)
		}
		want = want[:most]
	} else if len(j.beyond) > 0 {
		m.fail("ledger", j, "the update skips %v, which it must not", j.beyond)
	}
	if full {
		want = want[:left]
	}
	got := make([]int64, len(act.ahead))
	for i, a := range act.ahead {
		if got[i] = a.tick; (a.due == 0) != (d.paused || a.quota) || a.due != 0 && a.due < m.now {
			m.fail("ledger", j, "the update decides %s for %s; paused: %t", modelTime(a.tick), modelTime(a.due), d.paused)
		}
	}
	if !slices.Equal(got, want) {
		m.fail("ledger", j, "the update decides %s, want %s", modelList(got), modelList(want))
	}
}

// modelLeadMax is the largest lead that a process can have.
const modelLeadMax = 60_000

// decidesAhead reports whether the new schedule begins now, and not after what is decided. It does unless the clock was set back,
// whatever the lead was by which that was decided. If the clock was set back while no process was there, the engine may see it
// by what has finished at a later time, or not.
func (m *model) decidesAhead(j *modelJob, act *modelAct, kept int64) bool {
	switch ahead := j.high - m.now; {
	case ahead > modelLeadMax:
		return false
	case ahead <= m.settings.lead || m.now >= m.top:
		return true
	case m.now < m.presence.top:
		return false
	}
	some := slices.ContainsFunc(act.ahead, func(a modelAhead) bool { return a.tick != kept })
	return some || len(j.beyond) > 0
}

// takeBeyond takes in that the ranges have their outcome that an update skips before it is done.
func (j *modelJob) takeBeyond() {
	for _, r := range j.beyond {
		j.settle(r[0], r[1])
	}
	j.beyond = nil
}

// restOf returns the ranges of some ticks that an update does not decide: between two ticks of a range is no other.
func restOf(ticks *modelTicks, list []int64) (rest [][2]int64) {
	for i, tick := range list {
		if i > 0 && ticks.next(list[i-1]) == tick {
			rest[len(rest)-1][1] = tick
			continue
		}
		rest = append(rest, [2]int64{tick, tick})
	}
	return rest
}
