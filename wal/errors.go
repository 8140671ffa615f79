package wal

import (
	"errors"
	"fmt"
)

// The errors that callers can test for with errors.Is. Each comment names the calls that return it.
var (
	// ErrLocked is returned by Open, CutTail, Relist, Verify and Dump when another process, or another Log in
	// this process, has the directory open. The text names the process if its id is known.
	ErrLocked = errors.New("wal: the directory is in use")

	// ErrClosed is returned after Close by Append, MarkDurable, TruncateFront, SaveTail, NewReader, PositionOf
	// and CheckApplied, and by Next of the log's readers.
	ErrClosed = errors.New("wal: the log is closed")

	// ErrPoisoned is returned by Append, MarkDurable, TruncateFront and Close after a write, a sync or a removal
	// failed. It is wrapped together with that first failure. The outcome of the commit that met the
	// failure is unknown: after the next Open it is in the log or it is not. No later commit was
	// written. The process must stop and open the log again.
	ErrPoisoned = errors.New("wal: a failure ended all writing")

	// ErrNoSpace is returned by Append when the commit would leave less free space than the
	// reserve. Nothing was written and the log is not poisoned.
	ErrNoSpace = errors.New("wal: the free space has reached the reserve")

	// ErrNotMarked is returned by MarkDurable when the disk had no room for the file, or the process no
	// free file descriptor. The log is not poisoned and no commit is in doubt; the next call tries again.
	ErrNotMarked = errors.New("wal: the file SEGMENTS could not be updated")

	// ErrTooLarge is returned by Append for a payload above MaxPayload. Nothing was written.
	ErrTooLarge = errors.New("wal: the payload is too large")

	// ErrEpoch is returned by Append for an epoch below the one of the last commit. Nothing was
	// written.
	ErrEpoch = errors.New("wal: the epoch is lower than the last commit's")

	// ErrVersion is returned by Open, CutTail, Relist, Verify, Dump, DumpFile and a Reader for a frame or a
	// BASE, CUT or SEGMENTS file that is intact but has a version unknown to this program. The call has
	// changed nothing: a newer program can read the log.
	ErrVersion = errors.New("wal: unknown version")

	// ErrOutOfRange is returned by NewReader, Reader.Next, PositionOf, TruncateFront, CutTail and
	// SaveTail for an LSN that the log no longer keeps or does not have yet.
	ErrOutOfRange = errors.New("wal: the LSN is out of range")
)

// CorruptionError reports that durable bytes of the log are damaged, missing or foreign. Open, CutTail,
// Relist, Verify, Dump, DumpFile and Reader.Next return it, and have then changed nothing. A torn tail
// or a failed read is never a CorruptionError.
type CorruptionError struct {
	Dir     string // directory of the log, or of the file that DumpFile read
	Segment string // name of the file in Dir
	Offset  int64  // of the damage in that file, in bytes
	LSN     LSN    // of the first commit that is affected; 0 if no commit can be named
	Reason  string // what is wrong, for a person
}

// Error implements error.
func (e *CorruptionError) Error() string {
	return fmt.Sprintf("wal: corrupt log %s: file %s, offset %d, LSN %d: %s",
		e.Dir, e.Segment, e.Offset, e.LSN, e.Reason)
}

// MismatchError reports that the log and the store do not belong together. Log.CheckApplied returns it,
// and so do Open, CutTail, Relist and VerifyBeside, which have then changed nothing. A replay would lose
// commits or apply commits of another history; the node must be restored or join anew.
type MismatchError struct {
	Dir     string   // directory of the log
	Applied Position // what the store has applied
	Log     Position // the position of the log that contradicts it
	Reason  string   // what is wrong, for a person
}

// Error implements error.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("wal: log %s does not match the store: applied %v, log has %v: %s",
		e.Dir, e.Applied, e.Log, e.Reason)
}

// flaw says why bytes are not the frame that is expected at their place. It is internal: judge turns a
// flaw into a torn tail or a CorruptionError.
type flaw struct {
	reason string
	// whole means that the checksum is correct: the bytes were written as they are, so an interrupted
	// write is not the cause.
	whole bool
}

func (f *flaw) Error() string { return f.reason }

// torn returns a flaw that an interrupted write may explain.
func torn(reason string) error { return &flaw{reason: reason} }

// misplaced returns a flaw of a frame that is intact but does not belong at its place.
func misplaced(format string, args ...any) error {
	return &flaw{reason: fmt.Sprintf(format, args...), whole: true}
}
