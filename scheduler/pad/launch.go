package pad

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Mode is how a launch behaves while its job has as many runs in progress as it allows. The core gives it to the
// launch, because it knows the policy; the pad applies it, because only at the due time it is known which runs are in
// progress. The modes never leave the process: a log and a store have the policy of the job instead.
type Mode uint8

// The modes of a launch.
const (
	ModeFree      Mode = iota // ignores other runs
	ModeSkip                  // ends as skipped
	ModeWait                  // waits for its turn
	ModeHeld                  // is a further attempt of a run that already has its turn
	ModeBufferOne             // waits for its turn, unless another launch does: then it ends as skipped
	ModeCancel                // ends the runs in progress, and gets their turn
	ModeAgain                 // may have left under another leader: waits for its turn, and is not displaced by a later launch
)

// Tenant is the number of a tenant whose launches take turns with those of others. Each tenant that uses something has its own. 0: that of a
// job that does not exist any more.
type Tenant uint32

// Launch is a committed attempt. It holds no pointer; its delivery is read from the store ahead of the due time. A
// herd of a million launches on the pad is thus a few hundred bytes each, and no copy of the payload.
type Launch struct {
	// Due is an instant of the wall clock; the launch never leaves before it. Fence is the LSN of the commit that
	// started the attempt, or of the one that began the epoch if that is higher. Attempt counts from 1.
	Run     job.RunID
	Due     instant.Millis
	Fence   uint64
	Attempt uint32
	Limit   uint16 // runs of the job that may be in progress at a time; unused with ModeFree
	Mode    Mode
	// Ends are the outcomes at which the turn of the run is free without waiting for the commit of the outcome.
	Ends       Endings
	HasPayload bool
	Tenant     Tenant
	Expires    instant.Millis // an attempt that waited for a place does not begin after it; 0: no limit
	// order is the number of its first arrival on the pad, from 1; 0: it has not arrived yet. A launch that is
	// withdrawn and put back keeps it, so that an update of a job does not make its launches change places.
	order uint64
	// queuedAt is when its wait for a place began, in nanoseconds of Unix time; 0: it does not wait. It survives a
	// withdrawal, so that the wait is measured in full.
	queuedAt int64
	parked   instant.Millis // when its wait for the turn of its job began; 0: it did not wait
}
