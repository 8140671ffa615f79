package scheduler

// Sum returns the status of several engines as that of one: counts and rates are sums, distributions are those of all
// values, and ages, epochs and versions are the largest. It is a leader if one of them is. What is the same in all engines
// of a process, such as the rules of timezones, is that of the first, but for how many zones differ, which is the largest.
// Without an engine it is the zero value.
func Sum(all []Status) (sum Status) {
	for i := range all {
		if i == 0 {
			sum = all[0]
			continue
		}
		sum.addPlace(&all[i])
		sum.addLoad(&all[i])
		sum.addCounts(&all[i])
		sum.addTimes(&all[i])
	}
	return sum
}

// addPlace adds what an engine does, and how far its log and its rows are. Positions are sums, so that what is not applied
// yet is the sum of all engines.
func (s *Status) addPlace(o *Status) {
	if o.Role == "leader" {
		s.Role = o.Role
	}
	s.Epoch, s.RowsVersion = max(s.Epoch, o.Epoch), max(s.RowsVersion, o.RowsVersion)
	s.LSN, s.AppliedLSN = s.LSN+o.LSN, s.AppliedLSN+o.AppliedLSN
	if o.StartedAt.Before(s.StartedAt) {
		s.StartedAt = o.StartedAt
	}
	z := &s.Zones
	z.Count, z.Differs, z.Changed = max(z.Count, o.Zones.Count), max(z.Differs, o.Zones.Differs), max(z.Changed, o.Zones.Changed)
	z.Moved += o.Zones.Moved
}

// addLoad adds what an engine has to do now.
func (s *Status) addLoad(o *Status) {
	for _, n := range []struct{ sum, one *int }{
		{&s.Jobs, &o.Jobs}, {&s.Armed, &o.Armed}, {&s.Waiting, &o.Waiting}, {&s.Scheduled, &o.Scheduled}, {&s.Retrying, &o.Retrying},
		{&s.Backlog, &o.Backlog}, {&s.Queued, &o.Queued}, {&s.InFlight, &o.InFlight}, {&s.Live, &o.Live},
		{&s.Reporting, &o.Reporting}, {&s.Notices, &o.Notices}, {&s.CatchUp.Jobs, &o.CatchUp.Jobs},
	} {
		*n.sum += *n.one
	}
	for state := range s.JobsBy {
		s.JobsBy[state] += o.JobsBy[state]
	}
	s.CatchUp.Rate += o.CatchUp.Rate
	s.CatchUp.Usual += o.CatchUp.Usual
}

// addCounts adds what an engine has counted since its start.
func (s *Status) addCounts(o *Status) {
	for _, n := range []struct{ sum, one *uint64 }{
		{&s.Fired, &o.Fired}, {&s.Skipped, &o.Skipped}, {&s.Succeeded, &o.Succeeded}, {&s.Failed, &o.Failed}, {&s.Dead, &o.Dead},
		{&s.Cancelled, &o.Cancelled}, {&s.Retried, &o.Retried}, {&s.Dismissed, &o.Dismissed}, {&s.Stale, &o.Stale},
		{&s.NoticesLost, &o.NoticesLost}, {&s.Commits, &o.Commits}, {&s.CommitBytes, &o.CommitBytes},
	} {
		*n.sum += *n.one
	}
	for reason := range s.SkippedBy {
		s.SkippedBy[reason] += o.SkippedBy[reason]
	}
	for kind := range s.RefusedBy {
		s.RefusedBy[kind] += o.RefusedBy[kind]
	}
}

// addTimes adds the distributions of an engine, and its ages.
func (s *Status) addTimes(o *Status) {
	s.Lateness, s.DecisionLateness = s.Lateness.plus(o.Lateness), s.DecisionLateness.plus(o.DecisionLateness)
	for reason := range s.Waited {
		s.Waited[reason] = s.Waited[reason].plus(o.Waited[reason])
	}
	s.CommitTime, s.CommitSizes = s.CommitTime.plus(o.CommitTime), s.CommitSizes.Plus(o.CommitSizes)
	s.Behind, s.ReportWaited = max(s.Behind, o.Behind), max(s.ReportWaited, o.ReportWaited)
	s.ClockBehind = max(s.ClockBehind, o.ClockBehind)
	s.CatchUp.Left = max(s.CatchUp.Left, o.CatchUp.Left)
}
