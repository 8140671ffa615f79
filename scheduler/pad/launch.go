package pad

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Mode is how a launch behaves while its job has as many runs in progress as it allows.
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

// Launch is a committed attempt. It holds no pointer; its delivery is read from the store ahead of the due time.
type Launch struct {
	Run        job.RunID
	Due        instant.Millis
	Fence      uint64
	Attempt    uint32
	Limit      uint16 // runs of the job that may be in progress at a time; unused with ModeFree
	Mode       Mode
	Ends       Endings // outcomes at which the turn of the run is free
	HasPayload bool
	Tenant     job.TenantHash
	Expires    instant.Millis // an attempt that waited for a place does not begin after it; 0: no limit
	order      uint64         // of its first arrival on the pad, so that it keeps its order if it is withdrawn and put back
	queuedAt   int64          // when its wait for a place began, in ns of Unix time; 0: it does not wait
	parked     instant.Millis // when its wait for the turn of its job began; 0: it did not wait
}
