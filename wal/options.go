package wal

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
)

// The bounds and defaults of Options, in bytes.
const (
	SegmentBytesDefault = 1 << 20
	SegmentBytesMin     = 4 << 10
	SegmentBytesMax     = 1 << 30
	ReserveBytesDefault = 64 << 20
)

// Options say how to open a log. The zero value is complete but for Dir.
type Options struct {
	// Dir is the directory of the log and holds nothing else. Open creates it; its parent must
	// exist.
	Dir string

	// SegmentBytes is the size at which a segment file is full; it may exceed it by less than one
	// frame. 0 means 1 MiB; the least is 4 KiB, the most 1 GiB. Space comes back in whole
	// segments, and the last one is held in memory, growing, and rewritten by Open: larger ones cost
	// memory and start time, smaller ones a directory sync more often. It may differ from one Open to the
	// next.
	SegmentBytes int

	// ReserveBytes of free space are never used for commits: Append returns ErrNoSpace instead, so
	// that a full disk is met before a write and not in the middle of one. 0 means 64 MiB; a
	// negative value switches the check off.
	ReserveBytes int64

	// Start is the position that a new log continues; its first LSN is Start.LSN+1. The zero value
	// begins at LSN 1. A directory that already holds a log is opened as it is, whatever Start
	// says: Applied or CheckApplied finds what does not fit.
	Start Position

	// Applied is the position that the store beside the log has applied; the zero position is an empty
	// store. It says how far the log must reach, whatever its tail looks like: Open, CutTail and Relist
	// compare the log with it before they change anything. Nil means that it is not known, and the log is
	// judged alone.
	Applied *Position

	// Logger gets one line for each repair, and one for the failure that poisons the log. Nil
	// discards them.
	Logger *slog.Logger

	disk disk
}

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
		return o, fmt.Errorf("wal: Start %v is no position of a log", o.Start)
	}
	dir, err := filepath.Abs(o.Dir)
	o.Dir = dir
	return o, err
}
