package wal

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// segmentNameBytes is the length of a segment's file name: the LSN of its first frame in 20 decimal
// digits, which are enough for every uint64. With equal width the order of the names is that of the LSNs.
// The library sets this form.
const segmentNameBytes = 20

// maxSegmentFile is the size that no segment can exceed: the library begins a new one after the
// frame that reaches the segment size.
const maxSegmentFile = SegmentBytesMax + int64(maxEntry)

// segment describes one segment file. The position before it lets a reader begin at any segment and still
// verify the first frame there; without it, each reader would have to begin at BASE.
type segment struct {
	before Position // the position before its first frame
	bytes  int64    // the durable part of the file; 0 for the empty segment that the next commit goes to
}

// first returns the LSN of the segment's first frame, or of the one to come if the segment is empty.
func (s segment) first() LSN { return s.before.LSN + 1 }

func (s segment) name() string { return segmentName(s.first()) }

func segmentName(first LSN) string { return fmt.Sprintf("%0*d", segmentNameBytes, first) }

// parseSegmentName returns the first LSN of the segment with this file name, and whether the name is
// that of a segment. It accepts exactly the names that segmentName makes, so that no second name can
// stand for the same segment.
func parseSegmentName(name string) (LSN, bool) {
	if len(name) != segmentNameBytes {
		return 0, false
	}
	first, err := strconv.ParseUint(name, 10, 64)
	return first, err == nil && first > 0 && segmentName(first) == name
}

// The library writes the length of each entry before it, as an unsigned varint.
const (
	prefixMax = 3 // bytes of the longest prefix, that of a frame of maxFrame bytes
	maxEntry  = prefixMax + maxFrame
)

// entryBytes returns the size in a segment of a frame of n bytes. persist counts with it what the library
// writes, so it must follow the library's form exactly.
func entryBytes(n int) int { return prefixBytes(uint64(n)) + n }

// prefixBytes returns the length of n as an unsigned varint.
func prefixBytes(n uint64) int {
	var b [binary.MaxVarintLen64]byte
	return binary.PutUvarint(b[:], n)
}
