package api

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A list over all shards is merged from their lists, which all have the same order. Each shard is asked for a share of
// the page, and the entry that comes first among the next ones of all shards is taken, until the page is full. A shard
// whose entries are used up before that is asked again. Of an entry only its place in the order is read: its text goes
// into the page as the leader wrote it.

// mergedList is what differs between the lists that are merged.
type mergedList struct {
	member string // of the page: jobs, runs or entries
	asked  query  // what a cursor of one shard belongs to
	limit  int
	cursor string // of the request
	// isPartial leaves out the shards that are away, and names them.
	isPartial bool
	// entry returns an entry with its place. isShown is false for one that the merged list does not have.
	entry func(shard uint32, raw jsontext.Value) (e mergedEntry, isShown bool, err error)
	// sortOf returns the sort of the entry that the key of a cursor names. nil: a key says nothing about the order of
	// the entries of other shards, so that a cursor has the key of each shard.
	sortOf func(key string) (string, error)
}

// mergedEntry is an entry of the list of a shard.
type mergedEntry struct {
	text jsontext.Value // nil: it is too far behind for this page
	sort string         // orders the entries of all shards
	key  string         // of the cursor with which the list of its shard continues behind it
	// before is the key with which the list continues with the entry itself; only for lists with the key of each shard.
	before string
}

// source is the list of one shard while a page is merged.
type source struct {
	shard   uint32
	entries []mergedEntry // read and not taken yet
	// after is the key behind which the shard was asked, or behind which the last entry was read.
	after   string
	hasMore bool // the shard has more than it was asked for
	isShort bool // it ended its page early, because a page may read no more
	isAway  bool
}

// isPending reports whether the shard must be asked before it is known which of its entries comes next.
func (s *source) isPending() bool { return s.hasMore && len(s.entries) == 0 && !s.isAway }

// merger makes one page of a merged list. It belongs to the goroutine of its request.
type merger struct {
	*mergedList
	router  *router
	verb    *Verb
	request *Request
	head    []byte // of the requests to shards: an open object with the filters
	share   int    // how many entries a shard is asked for
	bytes   int    // how large its page may become

	sources []source // of each shard
	taken   []jsontext.Value
	size    int    // of what was taken, with commas
	last    string // key of the last entry that was taken
}

// mergeRounds bounds how often shards are asked again for one page.
const mergeRounds = 16

// pageAroundBytes is room for what is around the entries of a page, besides the cursor.
const pageAroundBytes = 64

// merge returns a page of a list over all shards.
func (r *router) merge(ctx context.Context, v *Verb, q *Request, l *mergedList) (Reply, error) {
	setDefault(&l.limit, PageDefault)
	each := float64(l.limit) / float64(r.count)
	m := &merger{
		mergedList: l, router: r, verb: v, request: q, head: openObject(q.Body, "limit", "cursor", "partial"),
		// Names and times are spread over the shards by a hash: hardly ever has a shard more of a page than this.
		share: min(l.limit, int(math.Ceil(each+3*math.Sqrt(each)))+3),
		bytes: max(2*r.front.pageBytesMax()/r.count, sharedPageBytes),
	}
	if err := m.begin(); err != nil {
		return Reply{}, err
	}
	for round := 1; ; round++ {
		if err := m.fetch(ctx); err != nil {
			return Reply{}, err
		}
		if m.take() || round == mergeRounds || slices.ContainsFunc(m.sources, func(s source) bool { return s.isPending() && s.isShort }) {
			break
		}
	}
	text, err := m.page()
	return Reply{Text: text}, err
}

// sharedPageBytes is the least that the page of a shard may grow to.
const sharedPageBytes = 32 << 10

// begin reads the cursor of the request.
func (m *merger) begin() error {
	keys, err := m.router.keysOf(m.mergedList)
	m.sources = make([]source, m.router.count)
	for i := range m.sources {
		m.sources[i] = source{shard: uint32(i), hasMore: true}
		if keys != nil {
			m.sources[i].after, m.sources[i].hasMore = keys[i], keys[i] != endKey
		}
	}
	return err
}

// fetch asks the shards that are pending, and keeps what the page may need of their answers.
func (m *merger) fetch(ctx context.Context) error {
	var pending []uint32
	for i := range m.sources {
		if m.sources[i].isPending() {
			pending = append(pending, uint32(i))
		}
	}
	replies, errs := make([]Reply, len(m.sources)), make([]error, len(m.sources))
	for some := range slices.Chunk(pending, askedAtOnce) {
		err := inParallel(ctx, m.request, some, func(shard uint32, part *Request) {
			part.Body, part.isPart, part.pageBytes = m.body(&m.sources[shard]), true, m.bytes
			replies[shard], errs[shard] = m.router.ask(ctx, shard, m.verb, part)
		})
		if err != nil {
			return err
		}
		for _, shard := range some {
			s := &m.sources[shard]
			err := errs[shard]
			if err == nil {
				err = m.read(s, replies[shard].Text)
				replies[shard] = Reply{}
			} else if s.isAway = isAway(err) && m.isPartial; s.isAway {
				err = nil
			}
			if err != nil {
				return awayError(shard, m.verb.ofTime(err))
			}
		}
		m.forget()
	}
	return nil
}

// body returns the request for the next entries of a shard.
func (m *merger) body(s *source) []byte {
	b := slices.Clone(m.head)
	if len(b) > 1 {
		b = append(b, ',')
	}
	b = strconv.AppendInt(append(b, `"limit":`...), int64(m.share), 10)
	if cursor := m.asked.cursor(s.after); cursor != "" {
		b = append(append(append(b, `,"cursor":"`...), cursor...), '"')
	}
	return append(b, '}')
}

// read reads the page of a shard.
func (m *merger) read(s *source, page []byte) error {
	cursor, count := "", 0
	err := read(page, func(r *reader) error {
		return r.members(func(name jsontext.Value) (err error) {
			switch {
			case isNamed(name, m.member):
				return r.values(func(raw jsontext.Value) error {
					count++
					e, isShown, err := m.entry(s.shard, raw)
					if s.after = e.key; isShown {
						s.entries = append(s.entries, e)
					}
					return err
				})
			case isNamed(name, "next_cursor"):
				cursor, err = r.text()
				return err
			}
			return r.skip()
		})
	})
	if s.hasMore = cursor != ""; err == nil && s.hasMore {
		s.after, err = m.asked.key(cursor)
	}
	s.isShort = s.hasMore && count < m.share && len(page) < m.bytes/2
	if err != nil {
		return fmt.Errorf("the page is not readable: %w", err)
	}
	return nil
}

// forget drops the texts of entries that cannot be on the page, because those before them fill it. So a page of large
// jobs from many shards needs the memory of a few pages.
func (m *merger) forget() {
	var all []*mergedEntry
	for i := range m.sources {
		for j := range m.sources[i].entries {
			all = append(all, &m.sources[i].entries[j])
		}
	}
	slices.SortStableFunc(all, func(a, b *mergedEntry) int { return strings.Compare(a.sort, b.sort) })
	size := m.size
	for _, e := range all {
		if size > m.router.front.pageBytesMax() {
			e.text = nil
		}
		size += len(e.text)
	}
}

// take takes entries, the first of all shards each time, and reports whether the page is done: it is full, or the list
// has ended. Otherwise shards must be asked before it is known which entry comes next.
func (m *merger) take() (isDone bool) {
	room := m.room()
	for {
		s := m.first()
		switch {
		case s == nil:
			return !slices.ContainsFunc(m.sources, func(s source) bool { return s.isPending() })
		case len(m.taken) == m.limit:
			return true
		case m.isBlocked(s.entries[0].sort):
			return false
		}
		e := s.entries[0]
		if e.text == nil || len(m.taken) > 0 && m.size+len(e.text)+1 > room {
			return true
		}
		m.taken, m.size, m.last = append(m.taken, e.text), m.size+len(e.text)+1, e.key
		s.entries = s.entries[1:]
	}
}

// room returns how many bytes the entries of the page may have.
func (m *merger) room() int {
	return m.router.front.pageBytesMax() - pageAroundBytes - m.router.cursorBytesFor(m.mergedList) - len(m.appendAway(nil))
}

// first returns the shard whose next entry comes before those of the others; nil if no entry is left.
func (m *merger) first() (first *source) {
	for i := range m.sources {
		s := &m.sources[i]
		if len(s.entries) > 0 && (first == nil || s.entries[0].sort < first.entries[0].sort) {
			first = s
		}
	}
	return first
}

// isBlocked reports whether a pending shard may have an entry that comes before one.
func (m *merger) isBlocked(sort string) bool {
	for i := range m.sources {
		if s := &m.sources[i]; s.isPending() && (m.sortOf == nil || m.reachOf(s) < sort) {
			return true
		}
	}
	return false
}

// reachOf returns up to where the list of a shard is known.
func (m *merger) reachOf(s *source) string {
	sort, err := m.sortOf(s.after)
	if err != nil {
		return "" // nothing is known; the shard is asked again
	}
	return sort
}
