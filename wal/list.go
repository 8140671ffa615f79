package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"golang.org/x/sys/unix"
)

// The layout of the SEGMENTS file. These values are part of the format and must not change.
const (
	listName    = "SEGMENTS"
	listMagic   = "CSEG"
	listVersion = 1

	offListVersion = 4 // then three zero bytes
	offListLogID   = 8
	offListLSN     = 16
	offListEpoch   = 24
	offListHash    = 32
	offListFirst   = 48
	offListCount   = 56
	offListEntries = 60
	listEntryBytes = 8
	listBytesMin   = offListEntries + 4 // and the checksum

	// listedMax bounds the list, and so the cost of each replacement: about 32 KiB. It names the newest
	// segments only. A missing older segment leaves a hole before those, which the walk over the log
	// finds.
	listedMax = 4096
)

// segmentList is the content of SEGMENTS: which segment files the log has, and how far it was durable.
// It lets Open detect the loss of the log's end. The chain of hashes detects only a hole: no frame shows
// that another one once followed it.
//
// When it is written, and what a crash between the steps leaves:
//
//   - A segment is listed after its name is durable. A crash between the two leaves an unlisted segment,
//     which is valid if it continues the log. In the other order, a crash would leave a list that names
//     a segment which never existed, and Open would report damage.
//   - The watermark is the position of a commit that was durable before the file was written. Later
//     commits are after it: a log may be longer than its list says, never shorter.
//   - A truncation replaces BASE first and the list after it. A crash between them leaves a list that
//     names segments before BASE; Open ignores those. So first is never above the first LSN of BASE: a
//     BASE that begins the log below first is an older copy of the file.
//   - A cut makes CUT durable first. While CUT exists, the list counts up to its position only. The list
//     of the shortened log is durable before CUT is removed.
//   - Creation writes BASE first and the list after it. So a list without BASE is damage, and a crash
//     can leave BASE without a list only in a log that has no commit.
//   - The whole file is replaced atomically: a crash leaves the old list or the new one.
//
// Invariant: firsts ascend, are at most listedMax, and none is below first.
type segmentList struct {
	logID     uint64
	watermark Position // of a commit that is durable; the base if the log has no commit
	first     LSN      // the first LSN of the log: one above BASE
	firsts    []LSN    // the first LSN of each listed segment
}

// equal reports whether both lists have the same content. An idle log compares and does not write, so that
// it causes no disk traffic.
func (s *segmentList) equal(o segmentList) bool {
	return s.logID == o.logID && s.watermark == o.watermark && s.first == o.first && slices.Equal(s.firsts, o.firsts)
}

// encode returns the bytes of the SEGMENTS file.
func (s *segmentList) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, offListEntries, listBytesMin+len(s.firsts)*listEntryBytes)
	copy(b, listMagic)
	b[offListVersion] = listVersion
	le.PutUint64(b[offListLogID:], s.logID)
	le.PutUint64(b[offListLSN:], s.watermark.LSN)
	le.PutUint64(b[offListEpoch:], s.watermark.Epoch)
	copy(b[offListHash:offListFirst], s.watermark.Hash[:])
	le.PutUint64(b[offListFirst:], s.first)
	le.PutUint32(b[offListCount:], uint32(len(s.firsts)))
	for _, first := range s.firsts {
		b = le.AppendUint64(b, first)
	}
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// decodeList decodes a whole file. Its error is a flaw, or ErrVersion.
func decodeList(b []byte) (segmentList, error) {
	le := binary.LittleEndian
	if len(b) < listBytesMin || string(b[:offListVersion]) != listMagic {
		return segmentList{}, torn("this is not a " + listName + " file")
	}
	body := b[:len(b)-4]
	if crc32.Checksum(body, castagnoli) != le.Uint32(b[len(body):]) {
		return segmentList{}, torn("the checksum does not match")
	}
	if b[offListVersion] != listVersion {
		return segmentList{}, fmt.Errorf("%w %d of a %s file", ErrVersion, b[offListVersion], listName)
	}
	count := le.Uint32(b[offListCount:])
	if [3]byte(b[offListVersion+1:offListLogID]) != [3]byte{} || count > listedMax ||
		len(body) != offListEntries+int(count)*listEntryBytes {
		return segmentList{}, misplaced("the unused bytes are not zero, or the count of segments is wrong")
	}
	s := segmentList{
		logID: le.Uint64(b[offListLogID:]),
		watermark: Position{
			LSN: le.Uint64(b[offListLSN:]), Epoch: le.Uint64(b[offListEpoch:]), Hash: Hash(b[offListHash:offListFirst]),
		},
		first:  le.Uint64(b[offListFirst:]),
		firsts: make([]LSN, 0, count),
	}
	for at := offListEntries; at < len(body); at += listEntryBytes {
		s.firsts = append(s.firsts, le.Uint64(body[at:]))
	}
	return s, s.check()
}

// check returns a flaw unless the invariant holds.
func (s *segmentList) check() error {
	below := s.first
	for _, first := range s.firsts {
		if first < below {
			return misplaced("the segments are not in order")
		}
		below = first + 1
	}
	return nil
}

// listOf returns the list of a log with these segments that is durable up to last.
func listOf(logID uint64, before, last Position, segments []segment) segmentList {
	s := segmentList{logID: logID, watermark: last, first: before.LSN + 1}
	for _, seg := range segments[max(0, len(segments)-listedMax):] {
		s.firsts = append(s.firsts, seg.first())
	}
	return s
}

// MarkDurable records in the file SEGMENTS which segments exist and up to which commit the log is
// durable, so that a later Open detects their loss. Until the next call, the loss of commits appended
// after this one can go undetected; therefore the caller calls it every few seconds while commits
// arrive. Close, Open and TruncateFront record the same. If nothing has changed since the last record,
// MarkDurable writes nothing. Otherwise it costs two syncs, for which no append waits.
//
// It returns ErrClosed or ErrPoisoned. It returns ErrNotMarked if the disk is full or the process has
// too many open files; the log stays usable then. Any other failure poisons the log.
func (l *Log) MarkDurable() error {
	if err := l.state.usable(); err != nil {
		return fmt.Errorf("mark what is durable: %w", err)
	}
	err := l.writeList()
	switch {
	case err == nil:
		return nil
	case outOfRoom(err):
		return fmt.Errorf("%w: %w", ErrNotMarked, err)
	default:
		return l.poison(fmt.Errorf("mark what is durable: %w", err))
	}
}

// outOfRoom reports whether err says that the system refused a change for lack of space or descriptors.
// SEGMENTS is then the old list or the new one, and both are true. A failure of any other kind, such as a
// failed sync, may concern more than this file, so it poisons the log.
func outOfRoom(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOSPC, unix.EDQUOT, unix.EMFILE, unix.ENFILE}, func(errno error) bool {
		return errors.Is(err, errno)
	})
}

// writeList replaces SEGMENTS with the list of what is durable now, unless the file already says the
// same. It reads the state after it has the lock: two calls then write in the order of what they read,
// and the file never goes back to an older list.
func (l *Log) writeList() error {
	l.listing.Lock()
	defer l.listing.Unlock()
	list := l.state.list(l.id)
	if list.equal(l.listed) {
		return nil
	}
	if err := replace(l.opts.disk, l.opts.Dir, listName, bytes.NewReader(list.encode())); err != nil {
		return fmt.Errorf("write %s: %w", listName, err)
	}
	l.listed = list
	return nil
}

// list returns the list of what is durable now. An append publishes its commit and its segment in state
// only when they are durable, so everything in state is.
func (s *state) list(logID uint64) segmentList {
	s.mu.Lock()
	defer s.mu.Unlock()
	return listOf(logID, s.base, s.last, s.segments)
}

// relist writes to SEGMENTS what the survey found and settle made durable, and then to BASE that
// SEGMENTS exists. BASE comes second: it must never require a file that is not durable yet.
func relist(opts Options, s *survey) error {
	list := listOf(s.base.logID, s.base.before, s.last, s.segments)
	if s.list == nil || !list.equal(*s.list) {
		if err := replace(opts.disk, opts.Dir, listName, bytes.NewReader(list.encode())); err != nil {
			return fmt.Errorf("write %s: %w", listName, err)
		}
		s.list = &list
	}
	if s.base.listed {
		return nil
	}
	s.base.listed = true
	return replace(opts.disk, opts.Dir, baseName, bytes.NewReader(s.base.encode()))
}
