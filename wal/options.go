package wal

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
)

// The default and the bounds of Options.SegmentBytes, and the default of ReserveBytes; all in bytes.
//
// A segment below the minimum would cost a directory sync every few commits. One above the maximum would be
// held in memory and copied by Open as a whole. The reserve is also the room for what the log writes besides
// commits: BASE, SEGMENTS, and at the next Open a copy of the last segment. With segments above the default
// reserve, the reserve should be raised as well.
const (
	SegmentBytesDefault = 1 << 20
	SegmentBytesMin     = 4 << 10
	SegmentBytesMax     = 1 << 30
	ReserveBytesDefault = 64 << 20
)

// Options say how to open a log. Only Dir is required; every other field has a default.
type Options struct {
	// Dir is the directory of the log and holds nothing else. Open creates it; its parent must
	// exist.
	Dir string

	// SegmentBytes is the size in bytes at which a segment file is full; the file may exceed it by less
	// than one frame. 0 means 1 MiB; the minimum is 4 KiB, the maximum 1 GiB. Truncation frees whole
	// segments, the library holds the last one in memory, and Open rewrites it: a larger size costs
	// memory, disk and start time, a smaller one more frequent directory syncs. The value may differ
	// from one Open to the next.
	SegmentBytes int

	// ReserveBytes is the free space, in bytes, that commits must leave on the disk. Append returns
	// ErrNoSpace instead of using it, so that a full disk is detected before a write and not in the
	// middle of one. 0 means 64 MiB; a negative value switches the check off.
	ReserveBytes int64

	// Start is the position that a new log continues; its first LSN is Start.LSN+1. The zero value
	// begins at LSN 1. A directory that already holds a log is opened as it is, whatever Start
	// says: Applied or CheckApplied detects a log that does not fit.
	Start Position

	// Applied is the position that the store beside the log has applied; the zero position stands for an
	// empty store. The log must reach at least this position, whatever its tail looks like: Open, CutTail
	// and Relist compare the log with it before they change any file. Nil means that the position is
	// unknown; the log is then verified without it.
	Applied *Position

	// Logger receives one line for each repair, and one for the failure that poisons the log. Nil
	// discards them.
	Logger *slog.Logger

	disk disk // set by tests to a disk that fails; nil means the machine's
}

// withDefaults returns a copy in which every field that has a default is set.
func (o Options) withDefaults() Options {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = SegmentBytesDefault
	}
	if o.ReserveBytes == 0 {
		o.ReserveBytes = ReserveBytesDefault
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.disk == nil {
		o.disk = osDisk{}
	}
	return o
}

// validate checks options with their defaults set, and makes Dir absolute: a later change of the
// working directory must not move the log.
func (o Options) validate() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("wal: Dir is not set")
	}
	if o.SegmentBytes < SegmentBytesMin || o.SegmentBytes > SegmentBytesMax {
		return o, fmt.Errorf("wal: SegmentBytes is %d and must be from %d to %d",
			o.SegmentBytes, SegmentBytesMin, SegmentBytesMax)
	}
	if o.Start.LSN == 0 && o.Start != (Position{}) || o.Start.LSN > math.MaxInt64 {
		return o, fmt.Errorf("wal: Start %v is not a position of a log: at LSN 0 epoch and hash are zero, and an LSN is at most %d",
			o.Start, int64(math.MaxInt64))
	}
	dir, err := filepath.Abs(o.Dir)
	o.Dir = dir
	return o, err
}
