package snapshot

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options say how to open a store. The zero value is complete but for Dir.
type Options struct {
	// Dir is the directory of the store and holds nothing else. Open creates it.
	Dir string

	// CacheBytes is the size of the block cache. 0 is 64 MiB. Larger makes reads of cold rows cheaper
	// once the store outgrows the page cache of the machine.
	CacheBytes int64

	// MemTableBytes is how much is held in memory before it is flushed. 0 is 32 MiB. Larger means fewer
	// and larger flushes, less rewriting, more memory (up to four of them under load) and a longer
	// replay after a crash.
	MemTableBytes int64

	// Logger hears of slow disks and of failures. Nil is silence.
	Logger *slog.Logger

	// OnFatal is called once, with the first failure in the background: the process must stop. It must
	// not call the store. Nil is nobody.
	OnFatal func(error)

	fs vfs.FS // tests put a file system that crashes here
}

func (o Options) withDefaults() Options {
	if o.CacheBytes == 0 {
		o.CacheBytes = 64 << 20
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = 32 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnFatal == nil {
		o.OnFatal = func(error) {}
	}
	if o.fs == nil {
		o.fs = vfs.Default
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Dir == "":
		return errors.New("snapshot: options: Dir is not set")
	case o.CacheBytes < 0 || o.MemTableBytes < 64<<10 || o.MemTableBytes > 1<<30:
		return fmt.Errorf("snapshot: options: a memtable has 64 KiB to 1 GiB, and a cache is not negative")
	}
	return nil
}

// formatVersion is the version of Pebble's own files that we write: FormatValueSeparation of v2.1. It
// is named by number so that a newer Pebble does not raise it by itself: going up is a decision, and
// there is no way back.
const formatVersion pebble.FormatMajorVersion = 24

// pebbleOptions states what matters for our shape of work: many small rows written once or twice, read
// by key, scanned at the start.
func (s *Store) pebbleOptions(o Options) *pebble.Options {
	p := &pebble.Options{
		FS:                          o.fs,
		DisableWAL:                  true,
		FormatMajorVersion:          formatVersion,
		CacheSize:                   o.CacheBytes,
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: 4, // two stop the writers at each flush
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       40,
		LBaseMaxBytes:               128 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		FlushDelayDeleteRange:       10 * time.Second,
		Logger:                      pebbleLogger{s},
		EventListener:               s.listener(),
	}
	if o.fs == vfs.Default {
		p.WithFSDefaults() // watches how long the disk takes
	}
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // names and keys are mostly looked up in vain
	}
	return p
}

func (s *Store) listener() *pebble.EventListener {
	return &pebble.EventListener{
		// Pebble retries what failed in the background for ever. We stop instead: a disk that is full
		// or broken must be met while the log still has everything.
		BackgroundError: func(err error) { s.fail(err) },
		DataCorruption:  func(info pebble.DataCorruptionInfo) { s.fail(info.Details) },
		DiskSlow: func(info pebble.DiskSlowInfo) {
			s.opts.Logger.Warn("the disk is slow", slog.String("path", info.Path), slog.Duration("took", info.Duration))
		},
		WriteStallBegin: func(pebble.WriteStallBeginInfo) { s.stalls.Add(1) },
	}
}

// pebbleLogger keeps Pebble from ending the process by itself.
type pebbleLogger struct{ store *Store }

// Infof implements pebble.Logger. What Pebble does by routine is nobody's concern.
func (pebbleLogger) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (l pebbleLogger) Errorf(format string, args ...any) {
	l.store.opts.Logger.Warn("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger. Pebble calls it where it cannot go on, and relies on it not to
// return: the goroutine is parked for good, the owner is told, and the process is expected to stop.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.store.fail(errors.New(strings.TrimSpace(text)))
	select {}
}
