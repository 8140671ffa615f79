package api

import (
	"context"
	"runtime"
	"time"
)

// Bytes of replies, over NATS and HTTP together: of large replies such as lists, and of small ones that show one
// thing. The small ones have a room of their own, so that no list blocks a report. Each party gets a part of both.
const (
	// Eight pages of the largest size at a time with what their building needs, and three of one party. More would
	// let callers read faster at the cost of the memory that a machine needs for its jobs.
	largeBytes, largePartyBytes = 128 << 20, 48 << 20
	smallBytes, smallPartyBytes = 32 << 20, 16 << 20
)

// bulkPages is how many bulk replies of the largest size there may be for each bulk registration that runs.
const bulkPages = 4

// How many requests wait for room, and how long. A large one is refused early, because its caller reads page by page
// and can ask again. Others may wait as long as a request may take.
const (
	largeWaiting, largePartyWaiting = 256, 64
	largeWait                       = 2 * time.Second
)

// A NATS server accepts a reply at once and keeps what its client does not read: by default 64 MiB for ten seconds.
// Nothing says how much the client has read, so a long reply keeps its room for as long as a caller may need to read
// it. This bounds what the server has to keep, however many connections a caller has.
const (
	replyPaceBytes = 8 << 20  // per second
	replyPaceFrom  = 64 << 10 // a shorter reply keeps nothing
)

// paceOf returns how long a reply that was sent over NATS keeps its room. A caller that reads more slowly than the
// pace costs memory of the NATS server, which has its own bound and then closes the connection.
func paceOf(bytes int) time.Duration {
	if bytes < replyPaceFrom {
		return 0
	}
	return time.Duration(bytes) * time.Second / replyPaceBytes
}

// pageBytesMost is the largest size of a page, even if NATS carries larger messages.
const pageBytesMost = 4 << 20

// Memory that replies need while they are built.
const (
	pageNeedFactor = 4         // pages: the text, its former buffer while it grows, and the rows of a step
	fixedBytes     = 4 << 10   // a reply that repeats the request and adds little
	listBytes      = 128 << 10 // a run with its attempts, or the ticks of a preview or a backfill
	jobBytes       = 64 << 10  // a job or a calendar without its payload
)

// replySize is the class of memory that the replies of a verb need. It is a property of the verb and not of the
// request, because room is reserved before the request is read.
type replySize uint8

const (
	sizeFixed replySize = iota // in proportion to the request
	sizeList                   // a bounded list of small things
	sizeJob                    // a job with its payload
	sizePage                   // a page of at most one message
	sizeBulk                   // an entry for each job of the request
)

// rooms are the memory of an executor for replies. In the zero value replies are not bounded. Bulk registrations have
// a third room, so that pages cannot keep them from being carried out. Each room has its own lock and queue, so a
// flood of one class does not delay another. A request uses one of them, by the class of its verb.
type rooms struct{ large, small, bulk *room }

// newRooms returns the rooms of an executor. The building of pages may use half of the processors, and one party half
// of that; the rest is left to launches. The small room has no bound of builds but that of requests, because its
// replies are small.
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

// held returns the bytes that are reserved in all rooms.
func (r *rooms) held() int { return r.large.held() + r.small.held() + r.bulk.held() }

// roomFor reserves the room that the reply to a request may need. What it reserves is the most that the reply can
// need while it is built, not what it is expected to have: settle returns the difference as soon as the reply is
// encoded.
func (x *Executor) roomFor(ctx context.Context, v *Verb, q *Request) (*hold, error) {
	p := party{q.Tenant, q.Asker.From, q.Host}
	switch v.size {
	case sizePage:
		return x.rooms.large.take(ctx, p, pageNeedFactor*x.pageBytesMax())
	case sizeBulk:
		return x.rooms.bulk.take(ctx, p, x.pageBytesMax())
	case sizeJob:
		return x.rooms.small.take(ctx, p, jobBytes+3*x.opts.Rules.PayloadBytesMax)
	case sizeList:
		return x.rooms.small.take(ctx, p, listBytes)
	default:
		return x.rooms.small.take(ctx, p, fixedBytes+2*len(q.Body))
	}
}
