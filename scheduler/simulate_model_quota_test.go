package scheduler

// Quotas of tenants. The model counts by walking over all jobs and runs.

// modelQuota is what a tenant may use, or uses. 0: no bound.
type modelQuota struct{ jobs, bytes, live int64 }

// modelQuotas are the quotas in force.
type modelQuotas struct {
	byTenant map[string]modelQuota
	changed  int64 // when they last were
	live     bool  // some tenant has, or has had, a bound of live runs
	counting bool  // the engine still counts the bytes, of which it knows a part
}

func (m *model) changeQuotas(now int64, to map[string]modelQuota) {
	m.quotas.byTenant, m.quotas.changed = to, now
	for _, q := range to {
		m.quotas.live = m.quotas.live || q.live > 0
	}
}

func (m *model) quotaOf(j *modelJob) modelQuota { return m.quotas.byTenant[simTenant(j.name)] }

// use counts what a tenant uses. Live runs of jobs that are gone count with gone only.
func (m *model) use(tenant string, gone bool) (u modelQuota) {
	for _, j := range m.order {
		if !j.deleted && simTenant(j.name) == tenant {
			u.jobs++
			u.bytes += j.size
		}
	}
	c := m.crowd(tenant, gone)
	u.live = int64(c.ticks + c.byHand)
	return u
}

// checkUse checks what the engine counts for a tenant. It may or may not know whose the live runs of deleted jobs are, and
// knows a part of the bytes while it counts them.
func (m *model) checkUse(tenant string, got modelQuota) {
	least, most := m.use(tenant, false), m.use(tenant, true)
	if m.quotas.counting && got.bytes >= 0 && got.bytes < least.bytes {
		got.bytes = least.bytes
	}
	if got.jobs != least.jobs || got.bytes != least.bytes || got.live < least.live || got.live > most.live {
		m.fail("quota", nil, "the engine counts %+v of %s; it uses %+v to %+v", got, tenant, least, most)
	}
}

// hasAllRuns reports whether the tenant of a job may have no more live runs.
func (m *model) hasAllRuns(j *modelJob, gone bool) bool {
	q := m.quotaOf(j)
	return q.live > 0 && m.use(simTenant(j.name), gone).live >= q.live
}

// checkLiveQuota checks that there was a place for a tick that becomes a run.
func (m *model) checkLiveQuota(j *modelJob, tick int64) {
	if m.hasAllRuns(j, false) {
		m.fail("quota", j, "tick %s was fired although the tenant has its live runs: %+v of %+v", modelTime(tick), m.use(simTenant(j.name), false), m.quotaOf(j))
	}
}

// checkStarted checks that a run that a caller started, and which is live now, was not one too many.
func (m *model) checkStarted(j *modelJob) {
	q, u := m.quotaOf(j), m.use(simTenant(j.name), false)
	if q.live > 0 && u.live > q.live {
		m.fail("quota", j, "a run was started by hand, and the tenant has %+v of %+v", u, q)
	}
}

// checkPut checks that a put which is in the log does not take its tenant beyond its quota; was is the job before, nil if
// there was none.
func (m *model) checkPut(a *modelAct, was *modelJob) {
	tenant := simTenant(a.name)
	q, u := m.quotas.byTenant[tenant], m.use(tenant, false)
	more := a.size
	if was != nil {
		more -= was.size
	}
	if m.quotas.counting {
		q.bytes = 0 // it is held against what is counted
	}
	if was == nil && q.jobs > 0 && u.jobs+1 > q.jobs || more > 0 && q.bytes > 0 && u.bytes+more > q.bytes {
		m.fail("quota", was, "the put of %s by %s adds %d bytes to %+v of %+v", a.name, a.by, more, u, q)
	}
}

// isBeyond reports whether an act would have taken its tenant beyond its quota, as of when it was asked or of now.
func (m *model) isBeyond(a *modelAct, j *modelJob) bool {
	tenant := simTenant(a.name)
	q, u := m.quotas.byTenant[tenant], m.use(tenant, true)
	u.jobs, u.bytes = max(u.jobs, a.before.jobs), max(u.bytes, a.before.bytes)
	switch a.kind {
	case "put":
		more := a.size
		if j != nil {
			more -= j.size
		}
		return j == nil && q.jobs > 0 && u.jobs+1 > q.jobs || more > 0 && q.bytes > 0 && u.bytes+more > q.bytes
	case "trigger", "retry":
		return q.live > 0 && max(u.live, a.before.live)+int64(m.over.all)+1 > q.live
	}
	return q.live > 0
}

// takeOverQuota takes in that a tick was skipped because the tenant has its live runs.
func (m *model) takeOverQuota(j *modelJob, r *modelRow) {
	tick := r.key.at
	act := m.upcoming(j, "put")
	if act == nil {
		m.closePlan(j)
	}
	switch {
	case r.until != 0:
		m.fail("quota", j, "ticks from %s to %s were skipped for the quota together", modelTime(tick), modelTime(r.until))
	case !m.hasAllRuns(j, true):
		m.fail("quota", j, "tick %s was skipped, and the tenant has %+v of %+v", modelTime(tick), m.use(simTenant(j.name), true), m.quotaOf(j))
	case act != nil:
		act.ahead = append(act.ahead, modelAhead{tick: tick, quota: true})
		return
	case j.def.at > 0:
		m.fail("quota", j, "the one-shot was skipped for the quota")
	case j.paused || j.next() != tick && !m.passes(j, tick) || tick > m.now+m.settings.lead || m.isMissed(j, tick, tick) && m.isMissed(j, tick, tick+j.jitterAt(tick)):
		m.fail("ledger", j, "tick %s was skipped for the quota; the next without an outcome is %s", modelTime(tick), modelTime(j.next()))
	}
	m.settleTick(j, tick, tick)
}

// isHeld reports whether a tick may wait for a place among the tenant's live runs. A waiting one is looked at twice a
// second.
func (m *model) isHeld(j *modelJob) bool {
	waits := j.def.at > 0 || m.settings.liveMax > 0 // one that waits for its share stays in its line
	return waits && m.quotas.live && (m.hasAllRuns(j, true) || m.now < m.quotas.changed+1000+m.settings.slack)
}

// overQuota returns how many ticks that an update decided were skipped for the quota.
func (a *modelAct) overQuota() (n int) {
	for _, t := range a.ahead {
		if t.quota {
			n++
		}
	}
	return n
}
