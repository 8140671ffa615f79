package scheduler

// The bound of live runs: tenants share it, and what callers start has a share of its own. The model counts by
// walking over all runs.

// modelCrowd is how many runs are live.
type modelCrowd struct{ all, manual, ticks, byHand int } // the last two are of one tenant

// count counts a run of whatever tenant.
func (c *modelCrowd) count(r *modelRun) {
	if c.all++; r.key.seq > 0 || r.base > 0 {
		c.manual++
	}
}

// crowd counts live runs. Those of jobs that are gone count for their tenant until the next start, so with gone
// it is as many as may count, and without as many as must.
func (m *model) crowd(tenant string, gone bool) (c modelCrowd) {
	for _, j := range m.order {
		for _, r := range j.live {
			c.count(r)
			byHand := r.key.seq > 0 || r.base > 0
			own := simTenant(j.name) == tenant && (gone || !j.deleted)
			switch {
			case byHand && own:
				c.byHand++
			case own:
				c.ticks++
			}
		}
	}
	return c
}

// isFull reports whether the tenant of a job may have no more runs of ticks.
func (m *model) isFull(j *modelJob, gone bool) bool {
	if m.settings.liveMax == 0 {
		return false
	}
	c := m.crowd(simTenant(j.name), gone)
	return c.ticks >= 4*(m.settings.liveMax-c.all)
}

// checkShare checks that there is room for a tick that becomes a run.
func (m *model) checkShare(j *modelJob, tick int64) {
	if m.isFull(j, false) {
		m.fail("share", j, "tick %s was fired although the tenant has its share: %+v", modelTime(tick), m.crowd(simTenant(j.name), false))
	}
}

// mostByHand returns how many runs a tenant may have that callers started.
func (m *model) mostByHand(c modelCrowd) int {
	return min(m.settings.manualMax, m.settings.liveMax/2-c.manual)
}

// checkByHand checks that a run that a caller started was not one too many.
func (m *model) checkByHand(j *modelJob) {
	if m.settings.liveMax == 0 {
		return
	}
	c := m.crowd(simTenant(j.name), false) // the run is among them
	if c.byHand > m.settings.manualMax || c.manual > m.settings.liveMax/2 || c.all > m.settings.liveMax {
		m.fail("share", j, "a run was started by hand, and there are %+v", c)
	}
}

// checkRefused checks that who was refused for his share has it.
func (m *model) checkRefused(a *modelAct, j *modelJob) {
	if j == nil || a.kind == "backfill" {
		return
	}
	if m.settings.liveMax == 0 {
		m.fail("quota", j, "%s was refused, and the tenant uses %+v of %+v", a.kind, m.use(simTenant(j.name), true), m.quotaOf(j))
		return
	}
	c := m.crowd(simTenant(j.name), true)
	c.all += m.over.all // they had not ended when the caller was refused
	c.manual += m.over.manual
	c.byHand += m.over.manual
	if c.byHand+1 <= m.mostByHand(c) && c.all < m.settings.liveMax {
		m.fail("share", j, "%s was refused, and there are only %+v", a.kind, c)
	}
}
