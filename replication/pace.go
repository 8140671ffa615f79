package replication

import (
	"context"
	"time"
)

// What a follower does at each event that its loop waits for, and when it looks again by itself.

// hearsLease is called with each state of the lease. It returns the reason for which this node has taken the lease; "" if it has not.
func (f *tailSession) hearsLease(ctx context.Context, l leaseSeen) (reason string) {
	f.sawLease(l)
	f.publishStatus(f.role()) // the next question goes to the new holder
	// A hand-over claims at once: nothing is launched until the successor leads.
	if l.value.Released && f.claimReason() != "" && f.claim(ctx) {
		return "the lease was given up"
	}
	f.rouse()
	return ""
}

// hearsAnswer is called with each outcome of a question to the holder of the lease.
func (f *tailSession) hearsAnswer(ctx context.Context, a answer) {
	f.heard(ctx, a)
	f.rouse()
}

// look is called when the time of a check has come. It returns the reason for which this node has taken the lease; "" if it has not.
func (f *tailSession) look(ctx context.Context) (reason string, err error) {
	f.tick(checkEvery)
	if err := f.check(ctx); err != nil {
		return "", err
	}
	if reason := f.claimReason(); reason != "" && f.claim(ctx) {
		return reason, nil
	}
	now := f.opts.Boot()
	if f.calm = f.isCalm(now); f.calm {
		f.progress = now // it has all that the leader has published; the check may have found that before a read that took long
		f.tick(calmEvery)
	}
	return "", nil
}

// untilFirst returns the time until the first check: none passes if the lease was given up, because nothing is launched until
// a node has it.
func (f *tailSession) untilFirst() time.Duration {
	if f.challenger.value.Released {
		return 0
	}
	return untilTick(checkEvery)
}

// rouse ends the calm, and sets the time of the next check by that, if not all is calm any more. Only a check begins a calm: from
// then on the node counts the time in which it makes no progress.
func (f *tailSession) rouse() {
	if f.calm && !f.isCalm(f.opts.Boot()) {
		f.calm = false
		f.tick(checkEvery)
	}
}

// isCalm reports whether no check of the next calmEvery can find anything that the loop is not told by a message, a state of the
// lease or an answer: a leader is heard, this node has all of its log and has said so, and the holder of the lease renews it
// and answers.
func (f *tailSession) isCalm(now time.Duration) bool {
	leader, ok := f.peers.leader(now)
	return ok && leader.Node != f.opts.Node && leader.published() <= f.writer.at.LSN && f.writer.seq >= f.end && f.stands && !f.direct && f.challenger.isCalm(now)
}
