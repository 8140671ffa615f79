package snapshot

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// fault holds the first failure of a store and enforces its consequences: the store stops changing its
// directory, no call of its users hangs, and its owner is notified.
//
// Pebble reacts to a failed change of its directory in three ways: it retries a flush or compaction at
// once, for ever; it ends the process by Fatalf if the manifest fails; it panics if a marker fails. None
// of these is acceptable here. Returning the error to Pebble is not either: its memory is in the middle
// of a change, and a second sync need not write what the first one lost. So a change that failed never
// returns. To Pebble this looks like a disk that hangs: its memory is consistent, its mutex is free, and
// it holds the manifest, so that it installs and removes no more tables. Readers continue.
//
// Invariant: cause is set before failed is closed, and never again.
//
// The price is that parked goroutines, and the files that they have open, stay until the process ends.
// That is acceptable because the process must end: see ErrFailed.
type fault struct {
	failed chan struct{} // closed at the first failure
	cause  error         // wraps ErrFailed; read it only after failed is closed

	// opened is set when pebble.Open has returned without an error. Before that, all changes happen on
	// the goroutine of Open, and errors are returned to it.
	opened atomic.Bool

	// stuck is closed when a goroutine inside Pebble has been parked or ended. Pebble can no longer be closed then.
	stuck     chan struct{}
	stuckOnce sync.Once
	works     atomic.Int64  // calls of start under way
	idle      chan struct{} // has an element when works may have fallen to 0
	closing   chan struct{} // closed when Pebble is being closed after damage: the changes that wait may go on

	mu      sync.Mutex // orders fail and arm
	logger  *slog.Logger
	onFatal func(error) // nil until Open returns
}

// newFault returns a fault without a failure and without an owner to notify.
func newFault(logger *slog.Logger) *fault {
	return &fault{failed: make(chan struct{}), stuck: make(chan struct{}), idle: make(chan struct{}, 1), closing: make(chan struct{}), logger: logger}
}

// arm sets the function that is called at a failure from now on. If the store has already failed, arm
// returns that failure instead.
func (f *fault) arm(onFatal func(error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onFatal = onFatal
	return f.err()
}

// fail records the first failure; later ones have no effect. Pebble calls it with its mutex held and on
// goroutines that must not wait for a disk, so another goroutine logs the failure and calls onFatal.
func (f *fault) fail(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err() != nil {
		return
	}
	cause = terse{cause}
	f.cause = fmt.Errorf("%w: %w", ErrFailed, cause)
	close(f.failed)
	if tell := f.onFatal; tell != nil {
		go func() {
			f.logger.Error("the store has failed; the process must stop", "error", cause)
			tell(f.cause)
		}()
	}
}

// terse is an error of Pebble without the stack traces in its text, which Pebble adds to those of corruption.
type terse struct{ error }

// Error implements error.
func (e terse) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), "\n(1) ")
	text = strings.ReplaceAll(text, "\n<corruption detail carrier>", "") // that is no text of an error, but of how Pebble passes on its cause
	return strings.ReplaceAll(text, "\n", "; ")
}

// Unwrap returns the error of Pebble.
func (e terse) Unwrap() error { return e.error }

// damaged returns the damage of a file that an open store has found.
func damaged(dir, file string, cause error) *DamageError {
	return &DamageError{Opened: true, Dir: dir, File: file, Reason: "it is damaged", Err: terse{cause}}
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

// run does work on a new goroutine and returns its error, or the store's failure as soon as there is
// one. After a failure Pebble no longer flushes, so a writer inside Pebble that waits for room waits for
// ever; run keeps our callers from waiting with it. The work may still be running when run returns, so
// it must not use memory that its caller uses.
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

// start does work on a new goroutine and sends its error when the goroutine has ended. If halt has ended
// the goroutine, the error is the store's failure.
func (f *fault) start(work func() error) <-chan error {
	done := make(chan error, 1)
	f.works.Add(1)
	go func() {
		var err error
		// A goroutine that halt ends does not come back from work, but runs its deferred calls:
		// without this one, the receiver would wait for ever.
		returned := false
		defer func() {
			if !returned {
				err = f.err()
			}
			f.worked()
			done <- err
		}()
		err = work()
		returned = true
	}()
	return done
}

// endOnError checks the error of a change to the directory. Nil is returned. Any other error ends the
// store, and endOnError never returns, so Pebble cannot react to it. While Open is at work, it returns
// the error, so that Open fails with it.
func (f *fault) endOnError(err error) error {
	if err == nil || !f.opened.Load() {
		return err
	}
	f.fail(err)
	f.stick()
	select {}
}

// mayChange returns nil if the store may still change its directory. After a failure it behaves as
// endOnError does. After damage that a read has found the change waits instead: it can go on if Pebble is closed.
func (f *fault) mayChange() error {
	err := f.err()
	if err != nil && f.opened.Load() && isDamage(err) {
		<-f.closing
		return nil
	}
	return f.endOnError(err)
}

// halt records a failure and ends the calling goroutine, which is inside Pebble and must not continue.
// Its deferred unlocks run. Pebble still counts its flush or compaction as running, so it starts no
// other in its place.
func (f *fault) halt(cause error) {
	f.fail(cause)
	f.stick()
	runtime.Goexit()
}

// slow reports a change of the directory that takes long. It runs on a goroutine of its own.
func (f *fault) slow(path, operation string, took time.Duration) {
	if f.err() != nil {
		return // endOnError has parked this change, the disk is not slow
	}
	f.logger.Warn("the disk is slow", "path", path, "operation", operation, "took", took)
}

// listener returns the functions that Pebble calls for events in the background.
func (f *fault) listener(stalls *stalls) *pebble.EventListener {
	return &pebble.EventListener{
		// This failure is not of a change to the directory; a table could not be read, for example.
		// Pebble would retry at once, for ever.
		BackgroundError: f.halt,
		// Pebble calls it on the goroutines of readers, which also receive the error.
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			dir, file := filepath.Split(info.Path)
			f.fail(damaged(filepath.Clean(dir), file, info.Details))
		},
		// It must not wait for the disk, and a logger may, so the logger runs on another goroutine.
		LowDiskSpace: func(info pebble.LowDiskSpaceInfo) {
			go f.logger.Warn("the disk is nearly full", "free_bytes", info.AvailBytes, "size_bytes", info.TotalBytes)
		},
		WriteStallBegin: func(pebble.WriteStallBeginInfo) { stalls.begin() },
		WriteStallEnd:   stalls.end,
	}
}

// quiet is Pebble's logger. It passes Pebble's routine messages on at the debug level.
type quiet struct{ fault *fault }

// Infof implements pebble.Logger.
func (q quiet) Infof(format string, args ...any) {
	q.fault.logger.Debug("pebble: " + fmt.Sprintf(format, args...))
}

// Errorf implements pebble.Logger.
func (q quiet) Errorf(format string, args ...any) {
	q.fault.logger.Warn("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger. It does not return; Pebble relies on that. Since the directory is
// guarded, the cause is an error inside Pebble, whose memory may be inconsistent. So Fatalf parks the
// goroutine with all its locks; a reader may then wait for it. During Open there are no readers yet, and
// Fatalf ends the goroutine instead.
func (q quiet) Fatalf(format string, args ...any) {
	f := fatal{text: strings.TrimSpace(fmt.Sprintf(format, args...))}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			f.cause = err
		}
	}
	if q.fault.endOnError(f) != nil {
		q.fault.halt(f)
	}
}

// fatal is the error of a call of Fatalf: its text, and the error among its arguments.
type fatal struct {
	text  string
	cause error // may be nil
}

func (f fatal) Error() string { return f.text }
func (f fatal) Unwrap() error { return f.cause }
