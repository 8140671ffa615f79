package api

import (
	"context"
	"runtime"
	"time"
)

// The bytes of replies, over NATS and HTTP together: of those that show much, and of those that show one thing. The
// second have a room of their own, so that no list is in the way of a report. A party has a part of each.
const (
	largeBytes, largePartyBytes = 128 << 20, 48 << 20
	smallBytes, smallPartyBytes = 32 << 20, 16 << 20
)

// bulkPages is how many of the longest replies of bulk registrations there may be for each that runs.
const bulkPages = 4

// How many requests wait for room, and how long. One that shows much is refused soon: its caller reads page by page
// and asks again. Others wait as long as it may take.
const (
	largeWaiting, largePartyWaiting = 256, 64
	largeWait                       = 2 * time.Second
)

// A NATS server takes a reply at once, and keeps what its caller does not read: 64 MiB for ten seconds, unless it is
// set up otherwise. How much is read nothing says, so a long reply keeps its room for as long as a caller may take to
// read it. That bounds what a server gets to keep, however many connections a caller has.
const (
	replyPaceBytes = 8 << 20  // a second
	replyPaceFrom  = 64 << 10 // a shorter reply keeps nothing
)

// paceOf is how long a reply keeps its room that a NATS server has.
func paceOf(bytes int) time.Duration {
	if bytes < replyPaceFrom {
		return 0
	}
	return time.Duration(bytes) * time.Second / replyPaceBytes
}

// pageBytesMost is the most that a page takes, also where NATS carries larger messages.
const pageBytesMost = 4 << 20

// What replies need while they are made.
const (
	pageNeedFactor = 4         // pages: the text, its former length while it grows, and the rows of a step
	fixedBytes     = 4 << 10   // a reply that repeats the request and adds little
	listBytes      = 128 << 10 // a run with its attempts, the ticks of a preview or a backfill
	jobBytes       = 64 << 10  // a job or a calendar but its payload
)

// replySize is how much memory the replies of a verb need.
type replySize uint8

const (
	sizeFixed replySize = iota // in proportion to the request
	sizeList                   // a bounded list of small things
	sizeJob                    // a job with its payload
	sizePage                   // a page, as long as fits a message
	sizeBulk                   // an entry for each job of the request
)

// rooms are the memory that a service has for replies.
type rooms struct{ large, small, bulk *room }

// newRooms returns the rooms of a service. The building of pages takes half of the processors, and one party half of
// that: what is due has the rest.
func newRooms(o *Options) rooms {
	builds, bulk := max(2, runtime.NumCPU()/2), o.BulkMax*bulkPages*pageBytesMost
	return rooms{
		large: newRoom(roomLimits{
			bytes: largeBytes, partyBytes: largePartyBytes, builds: builds, partyBuilds: builds / 2,
			waiting: largeWaiting, partyWaiting: largePartyWaiting, wait: largeWait,
		}),
		small: newRoom(roomLimits{
			bytes: smallBytes, partyBytes: smallPartyBytes, builds: o.RequestsMax, partyBuilds: o.RequestsMax,
			waiting: o.RequestsMax, partyWaiting: o.RequestsMax, wait: o.RequestTimeout,
		}),
		bulk: newRoom(roomLimits{
			bytes: bulk, partyBytes: bulk / 2, builds: o.BulkMax, partyBuilds: o.BulkMax,
			waiting: o.BulkMax, partyWaiting: o.BulkMax, wait: o.BulkTimeout,
		}),
	}
}

// roomFor takes the room that the reply to a request may need.
func (s *Service) roomFor(ctx context.Context, v *verb, c *call) (*hold, error) {
	p := party{c.tenant, c.asker.From, c.host}
	switch v.size {
	case sizePage:
		return s.rooms.large.take(ctx, p, pageNeedFactor*s.pageBytesMax())
	case sizeBulk:
		return s.rooms.bulk.take(ctx, p, s.pageBytesMax())
	case sizeJob:
		return s.rooms.small.take(ctx, p, jobBytes+3*s.opts.Rules.PayloadBytesMax)
	case sizeList:
		return s.rooms.small.take(ctx, p, listBytes)
	default:
		return s.rooms.small.take(ctx, p, fixedBytes+2*len(c.body))
	}
}

// pageBytesMax returns how large a page may be.
func (s *Service) pageBytesMax() int {
	if s.nc == nil {
		return s.replyBytesMax()
	}
	return min(s.replyBytesMax(), pageBytesMost)
}
