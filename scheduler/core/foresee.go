package core

import "github.com/carillon-io/carillon/scheduler/pad"

// foresee returns the outcomes that certainly end a run at its n-th attempt, counted from its last fresh start. It
// mirrors delivered and nextAttempt, except for retry.max_age, which depends on the time of the failure, and for
// outcomes with Died. These exceptions only end a run earlier than foreseen, and never let one continue whose turn is
// already free.
func (p *profileEntry) foresee(n uint32) (e pad.Endings) {
	if p.ReportWithin == 0 {
		e |= pad.EndsTaken
	}
	if n >= p.Retry.MaxAttempts {
		return e | pad.EndsRefused | pad.EndsFailed
	}
	if !p.Retry.ClientErrors {
		e |= pad.EndsRefused
	}
	return e
}
