package scheduler

// foresee returns the outcomes that certainly end a run at its n-th attempt, counted from its last fresh start. It
// mirrors delivered and nextAttempt, except for retry.max_age, which depends on the time of the failure.
func (p *profileEntry) foresee(n uint32) (e endings) {
	if p.ReportWithin == 0 {
		e |= endsTaken
	}
	if n >= p.Retry.MaxAttempts {
		return e | endsRefused | endsFailed
	}
	if !p.Retry.ClientErrors {
		e |= endsRefused
	}
	return e
}
