package api

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// page writes the page of a merged list.
func (m *merger) page() (jsontext.Value, error) {
	cursor := m.nextCursor()
	b := append(append(append(make([]byte, 0, m.size+pageAroundBytes+len(cursor)), `{"`...), m.member...), `":[`...)
	for i, text := range m.taken {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, text...)
	}
	b = append(b, ']')
	if cursor != "" {
		b = append(append(append(b, pageCursor...), cursor...), '"')
	}
	b = append(m.appendAway(b), '}')
	if len(b) > m.router.front.replyBytesMax() {
		return nil, m.router.front.tooLarge(len(b))
	}
	return b, nil
}

// appendAway writes the member that names the shards that were left out, if there are any.
func (m *merger) appendAway(b []byte) []byte {
	n := 0
	for i := range m.sources {
		if !m.sources[i].isAway {
			continue
		}
		if n++; n == 1 {
			b = append(b, `,"missing_shards":[`...)
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(i), 10)
	}
	if n > 0 {
		b = append(b, ']')
	}
	return b
}

// awayError returns the refusal of a page of which the part of a shard is missing.
func awayError(shard uint32, err error) error {
	if !isAway(err) {
		return err
	}
	e := *PublicError(err)
	e.Code, e.Status, e.Cause = client.CodeUnavailable, statusOf[apierr.Unavailable], nil
	e.Message = fmt.Sprintf(`shard %d does not answer, so the list would have holes (%s); ask again later, or with "partial": true for what the other shards have`, shard, e.Message)
	return &e
}

// A cursor of a merged list has one key, which is that of each shard, or the keys of all shards in their order. The
// number of shards is part of its query, so that it is valid in no other cluster.

// endKey stands in a cursor for a shard whose list has ended. It is a place of the audit log that no entry has.
const endKey = "0-0-1"

// shardCursorBytes is what the key of one shard needs in a cursor at most: three numbers, in base64.
const shardCursorBytes = 32

// cursorBytesFor returns the length of the longest cursor of a merged list.
func (r *router) cursorBytesFor(l *mergedList) int {
	if l.sortOf != nil {
		return cursorBytesMax
	}
	return cursorBytesMax + shardCursorBytes*r.count
}

// merged returns what a cursor of the merged list belongs to.
func (r *router) merged(l *mergedList) query {
	return append(l.asked[:len(l.asked):len(l.asked)], " shards", strconv.Itoa(r.count))
}

// keysOf returns the key of each shard in the cursor of a request; nil at the beginning of a list.
func (r *router) keysOf(l *mergedList) ([]string, error) {
	key, err := r.merged(l).keyWithin(l.cursor, r.cursorBytesFor(l))
	if err != nil || key == "" {
		return nil, err
	}
	keys := make([]string, r.count)
	if l.sortOf != nil {
		if _, err := l.sortOf(key); err != nil {
			return nil, errCursor()
		}
		for i := range keys {
			keys[i] = key
		}
		return keys, nil
	}
	rest := []byte(key)
	for i := range keys {
		if keys[i], rest, err = readPlace(rest); err != nil {
			return nil, errCursor()
		}
	}
	if len(rest) > 0 {
		return nil, errCursor()
	}
	return keys, nil
}

// nextCursor returns the cursor of the next page; "" at the end of the list.
func (m *merger) nextCursor() string {
	isEnd, isPending := true, false
	for i := range m.sources {
		s := &m.sources[i]
		isEnd = isEnd && (len(s.entries) == 0 && !s.hasMore || s.isAway)
		isPending = isPending || s.isPending()
	}
	switch {
	case isEnd:
		return ""
	case m.sortOf == nil:
		return m.router.merged(m.mergedList).cursor(m.places())
	case !isPending || m.isFull():
		return m.router.merged(m.mergedList).cursor(m.last)
	}
	return m.router.merged(m.mergedList).cursor(m.leastReach())
}

// isFull reports whether the page ended because no further entry has room, and not because a shard has to be asked.
func (m *merger) isFull() bool {
	s := m.first()
	return len(m.taken) == m.limit || s != nil && !m.isBlocked(s.entries[0].sort)
}

// leastReach returns the key up to which the lists of all shards are known. All entries up to there were taken.
func (m *merger) leastReach() string {
	var least *source
	for i := range m.sources {
		if s := &m.sources[i]; s.isPending() && (least == nil || m.reachOf(s) < m.reachOf(least)) {
			least = s
		}
	}
	return least.after
}

// places writes the key of each shard.
func (m *merger) places() string {
	var b []byte
	for i := range m.sources {
		key := endKey
		switch s := &m.sources[i]; {
		case len(s.entries) > 0:
			key = s.entries[0].before
		case s.hasMore:
			key = s.after
		}
		p, _ := parseAuditPlace(key) // of a key that this process has made or checked; "" is the beginning
		b = binary.AppendUvarint(b, uint64(p.Day))
		b = binary.AppendUvarint(b, p.ID.LSN)
		b = binary.AppendUvarint(b, uint64(p.ID.Seq))
	}
	return string(b)
}

// errPlace is the error of a cursor that ends within a place.
var errPlace = errors.New("no place")

// readPlace reads the key of one shard.
func readPlace(b []byte) (key string, rest []byte, err error) {
	var of [3]uint64
	for i := range of {
		n, size := binary.Uvarint(b)
		if size <= 0 || i != 1 && n > 1<<32-1 {
			return "", nil, errPlace
		}
		of[i], b = n, b[size:]
	}
	if of == [3]uint64{} {
		return "", b, nil
	}
	return auditKey(scheduler.AuditPlace{Day: uint32(of[0]), ID: job.AuditID{LSN: of[1], Seq: uint32(of[2])}}), b, nil
}

// openObject returns an object without some of its members, and without its end, so that others can be appended. The
// body must be an object, as it is after it was decoded.
func openObject(body []byte, without ...string) []byte {
	b := append(make([]byte, 0, len(body)+cursorBytesMax), '{')
	_ = read(body, func(r *reader) error {
		return r.members(func(name jsontext.Value) error {
			label := string(name) // before the value is read
			value, err := r.dec.ReadValue()
			for _, one := range without {
				if isNamed(jsontext.Value(label), one) {
					return err
				}
			}
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(append(append(b, label...), ':'), value...)
			return err
		})
	})
	return b
}
