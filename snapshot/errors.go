package snapshot

import "errors"

var (
	// ErrInUse is returned by Open for a directory that this or another process has open.
	ErrInUse = errors.New("snapshot: the store is in use")

	// ErrForeign is returned by Open for a directory that holds something else than a store. Nothing
	// was changed.
	ErrForeign = errors.New("snapshot: the directory holds something that is no store")

	// ErrVersion is returned by Open for a store of a version that this program does not know, older
	// or newer. Nothing was changed.
	ErrVersion = errors.New("snapshot: unknown version of the store")

	// ErrGap is returned by Apply for a commit that does not follow the one applied last. Nothing was
	// changed.
	ErrGap = errors.New("snapshot: the commit does not follow the last one applied")

	// ErrBatch is returned by Apply for a batch that is malformed or too large. Nothing was changed.
	ErrBatch = errors.New("snapshot: malformed batch")

	// ErrFailed is in every error of Apply, Checkpoint, Export and Close after the first failure in the
	// background, with its cause beside it. What was durable stays so; nothing more is written. The
	// process must stop: the directory stays locked until it ends.
	ErrFailed = errors.New("snapshot: the store has failed")

	// ErrClosed is returned by Apply, Checkpoint, Export, Get and Scan after Close.
	ErrClosed = errors.New("snapshot: the store is closed")
)
