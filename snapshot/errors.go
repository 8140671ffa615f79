package snapshot

import "errors"

// The errors that callers can test for with errors.Is. Each comment names the calls that return it.
var (
	// ErrInUse is returned by Open for a directory that this process or another one has open.
	ErrInUse = errors.New("snapshot: the store is in use")

	// ErrForeign is returned by Open for a directory that holds other files than those of a store. Open
	// has changed nothing.
	ErrForeign = errors.New("snapshot: the directory holds something that is not a store")

	// ErrVersion is returned by Open for a store of a version that this program does not know, older
	// or newer. Nothing was changed.
	ErrVersion = errors.New("snapshot: unknown version of the store")

	// ErrGap is returned by Apply for a commit that does not follow the one applied last. Nothing was
	// changed.
	ErrGap = errors.New("snapshot: the commit does not follow the last one applied")

	// ErrBatch is returned by Apply for a batch that is malformed or too large. Nothing was changed.
	ErrBatch = errors.New("snapshot: malformed batch")

	// ErrFailed is wrapped, together with the cause, in every error of Apply, Checkpoint, Export and Close
	// after the first failure of a write. What was durable remains so; the store writes nothing more. The
	// process must stop: the directory stays locked until it ends.
	ErrFailed = errors.New("snapshot: the store has failed")

	// ErrClosed is returned by Apply, Checkpoint, Export, Get and Scan after Close.
	ErrClosed = errors.New("snapshot: the store is closed")
)
