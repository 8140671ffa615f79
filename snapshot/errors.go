package snapshot

import "errors"

var (
	// ErrInUse is returned by Open for a directory that another process has open.
	ErrInUse = errors.New("snapshot: the store is in use by another process")

	// ErrForeign is returned by Open for a directory that holds something else than a store.
	ErrForeign = errors.New("snapshot: the directory holds something that is no store")

	// ErrVersion is returned by Open for a store that a newer program has written. Nothing is changed.
	ErrVersion = errors.New("snapshot: unknown version of the store")

	// ErrGap is returned by Apply for a commit that does not follow the one applied last. Nothing is
	// changed.
	ErrGap = errors.New("snapshot: the commit does not follow the last one applied")

	// ErrFailed is in every error after Pebble met a failure in the background: what it writes from then
	// on cannot be relied upon, and the process must stop. The first cause is wrapped beside it.
	ErrFailed = errors.New("snapshot: the store has failed")

	// ErrClosed is returned by every call after Close.
	ErrClosed = errors.New("snapshot: the store is closed")
)
