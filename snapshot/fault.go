package snapshot

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// fault keeps the first failure of a store and sees to what follows from it: the store stops changing
// its directory, no call of its users hangs, and its owner is told.
//
// Left to itself, Pebble answers a change to its directory that fails in three ways: a flush or
// compaction is tried again at once, for ever; a manifest ends the process by Fatalf; a marker panics.
// None will do, and nothing that is put in their place may let Pebble go on: what it has in memory is
// in the middle of a change then, and what a second try would sync need not be what the first one
// lost. So such a change never returns. To Pebble that is a disk that takes for ever, in the middle of
// which its memory is in order, its mutex free, and its manifest taken, so that no table is installed
// or removed any more. Readers do not notice.
//
// Invariant: cause is set before failed is closed, and never again.
type fault struct {
	failed chan struct{} // closed at the first failure
	cause  error         // wraps ErrFailed

	// opened is set when pebble.Open has returned. Before that, everything happens on its goroutine,
	// and errors go back to it.
	opened atomic.Bool

	mu      sync.Mutex // orders fail and arm
	logger  *slog.Logger
	onFatal func(error) // nil until Open returns
}

func newFault(logger *slog.Logger) *fault {
	return &fault{failed: make(chan struct{}), logger: logger}
}

// arm names who is to be told of a failure from now on. One that came before is returned instead.
func (f *fault) arm(onFatal func(error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onFatal = onFatal
	return f.err()
}

// fail notes a failure; those after the first change nothing. Pebble calls it with its mutex held and
// on goroutines that must not wait for a disk, so the owner is told, and the log written, by another.
func (f *fault) fail(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err() != nil {
		return
	}
	f.cause = fmt.Errorf("%w: %w", ErrFailed, cause)
	close(f.failed)
	if tell := f.onFatal; tell != nil {
		go func() {
			f.logger.Error("the store has failed; the process must stop", "error", cause)
			tell(f.cause)
		}()
	}
}

// err returns the first failure, or nil.
func (f *fault) err() error {
	select {
	case <-f.failed:
		return f.cause
	default:
		return nil
	}
}

// run does work on a goroutine of its own and returns its error, or the store's failure as soon as
// there is one. After a failure Pebble flushes no more, so that a writer who waits for room waits for
// ever; nobody of ours may. The work may still be going then, and must touch nothing of its caller's.
func (f *fault) run(work func() error) error {
	if err := f.err(); err != nil {
		return err
	}
	select {
	case err := <-f.start(work):
		return err
	case <-f.failed:
		return f.cause
	}
}

// start does work on a goroutine of its own, and passes on its error when that has ended: the failure,
// if halt has ended it.
func (f *fault) start(work func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		var err error
		returned := false
		defer func() {
			if !returned {
				err = f.err()
			}
			done <- err
		}()
		err = work()
		returned = true
	}()
	return done
}

// settle takes the error of a change to the directory. The first one ends the store, and settle does
// not return. While Open is at work it returns the error to it.
func (f *fault) settle(err error) error {
	if err == nil || !f.opened.Load() {
		return err
	}
	f.fail(err)
	select {}
}

// may returns nil if the directory may be changed still; else it is like settle.
func (f *fault) may() error { return f.settle(f.err()) }

// halt notes a failure and ends the calling goroutine, which is inside Pebble and must not go on. Its
// deferred unlocks run. A flush or compaction stays marked as running, so that none takes its place.
func (f *fault) halt(cause error) {
	f.fail(cause)
	runtime.Goexit()
}

// listener returns the hooks for what Pebble does in the background.
func (f *fault) listener(stalls *stalls) *pebble.EventListener {
	return &pebble.EventListener{
		// What fails here did not fail in a change to the directory: a table could not be read, say.
		// Pebble would try again at once.
		BackgroundError: f.halt,
		// It is called on the goroutines of readers, which get the error themselves.
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			f.fail(fmt.Errorf("%s is corrupt: %w", info.Path, info.Details))
		},
		// It must not wait for anything that may wait for the disk, and a logger may.
		DiskSlow: func(info pebble.DiskSlowInfo) {
			if f.err() != nil {
				return // it hangs because of us
			}
			go f.logger.Warn("the disk is slow",
				"path", info.Path, "operation", info.OpType.String(), "took", info.Duration)
		},
		LowDiskSpace: func(info pebble.LowDiskSpaceInfo) {
			go f.logger.Warn("the disk is nearly full", "free_bytes", info.AvailBytes, "size_bytes", info.TotalBytes)
		},
		WriteStallBegin: func(pebble.WriteStallBeginInfo) { stalls.begin() },
		WriteStallEnd:   stalls.end,
	}
}

// quiet is what Pebble logs to. Its routine is for those who debug.
type quiet struct{ fault *fault }

// Infof implements pebble.Logger.
func (q quiet) Infof(format string, args ...any) {
	q.fault.logger.Debug("pebble: " + fmt.Sprintf(format, args...))
}

// Errorf implements pebble.Logger.
func (q quiet) Errorf(format string, args ...any) {
	q.fault.logger.Warn("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger and does not return, as Pebble relies on. With the directory guarded,
// what brings Pebble here is a fault of its own, and its memory is in no order that anybody should meet:
// the goroutine is parked with all its locks, and a reader may have to wait behind it. In Open, where
// nobody else is there yet, it is ended.
func (q quiet) Fatalf(format string, args ...any) {
	f := fatal{text: strings.TrimSpace(fmt.Sprintf(format, args...))}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			f.cause = err
		}
	}
	if q.fault.settle(f) != nil {
		q.fault.halt(f)
	}
}

// fatal is an error that Pebble gave as text, with the one that was among its arguments.
type fatal struct {
	text  string
	cause error // may be nil
}

func (f fatal) Error() string { return f.text }
func (f fatal) Unwrap() error { return f.cause }
