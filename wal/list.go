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

// The SEGMENTS file on disk. These values are part of the format and must not be changed.
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

	// listedMax is how many segments are listed: the newest ones. An older one that is missing leaves a
	// hole before those, which the walk over the log finds.
	listedMax = 4096
)

// segmentList is what SEGMENTS says: which files the log has, and how far it was durable. It is how a
// log misses its own end. The chain of hashes finds a hole, and nothing behind the last frame says that
// there was another.
//
// When it is written, and what a crash between the steps leaves:
//
//   - A segment is listed after its name is durable. A crash before that leaves a segment that is not
//     listed, which is right as long as it continues the log. Listed first, a segment that never came to
//     be would be missed.
//   - The watermark is the position of a commit that was durable before the file was written. What was
//     appended since is after it: a log may be longer than its list, never shorter.
//   - A truncation replaces BASE first and the list after it. A crash between them leaves a list that
//     names segments before BASE: they are passed over. So first never passes BASE; a BASE that begins
//     the log before it is an older copy of itself.
//   - A cut makes CUT durable first. While CUT is there, the list holds up to its position only; the list
//     of the shorter log is durable before CUT is removed.
//   - Creation writes BASE first and the list after it. So a list without BASE is damage; BASE without a
//     list is what a crash leaves only where no commit is.
//   - Each time the whole file is replaced: a crash leaves the old list or the new one.
//
// Invariant: firsts ascend, are at most listedMax, and none is below first.
type segmentList struct {
	logID     uint64
	watermark Position // of a commit that is durable; the base, if the log has none
	first     LSN      // of the log: the one after BASE
	firsts    []LSN    // of the segments
}

func (s *segmentList) equal(o segmentList) bool {
	return s.logID == o.logID && s.watermark == o.watermark && s.first == o.first && slices.Equal(s.firsts, o.firsts)
}

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
		return segmentList{}, torn("this is no " + listName + " file")
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

// MarkDurable notes in the file SEGMENTS which segments there are and up to which commit the log is
// durable now, so that a later Open misses them when they are gone. What is appended after it can be
// lost unseen until the next call: the caller makes one every few seconds while commits come. Close, Open
// and TruncateFront do the same. If nothing has changed since, nothing is written; else it costs two
// syncs, and no append waits for them.
//
// It returns ErrClosed or ErrPoisoned; or ErrNotMarked if the disk is full or the process has too many open
// files, and the log goes on then. Any other failure poisons it.
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

// outOfRoom reports whether a change was refused before it began. The list stays the old one or becomes the
// new one then, and either is true; a failed sync may be of more than this file.
func outOfRoom(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOSPC, unix.EDQUOT, unix.EMFILE, unix.ENFILE}, func(errno error) bool {
		return errors.Is(err, errno)
	})
}

// writeList replaces SEGMENTS by the list of what is durable, unless it says so already.
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

// list returns the list of what is durable at this moment: last and the segments' names are, since an
// append publishes them only then.
func (s *state) list(logID uint64) segmentList {
	s.mu.Lock()
	defer s.mu.Unlock()
	return listOf(logID, s.base, s.last, s.segments)
}

// relist makes SEGMENTS say what the survey found and settle made durable, and BASE say that there is
// such a file. BASE comes second: its word must never be ahead of the list.
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
