package api

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/client"
)

// Enter counts in a request that does not come over NATS, and reports whether the executor still accepts requests.
// After true, the caller calls Leave when the request has been carried out; a Close waits for that. After false the
// caller refuses the request without calling anything else.
func (x *Executor) Enter() bool {
	x.underWay.Add(1) // before the check, so that a Close that the check does not see waits for this request
	if x.isOpen() {
		return true
	}
	x.underWay.Add(-1)
	return false
}

// Leave ends what Enter began.
func (x *Executor) Leave() { x.underWay.Add(-1) }

// isOpen reports whether the executor still accepts requests: neither the service nor its connection to NATS is
// closed. It needs a carrier, which an executor for calls in this process has not.
func (x *Executor) isOpen() bool { return !x.isClosed.Load() && !x.carrier.IsClosed() }

// OverHTTP carries out a request that came over HTTP, between Enter and Leave. header returns a header of the
// request; read reads and validates the request. A standby passes the request on to the leader, unless it is a read
// that may lag. The caller releases the reply when it has been written, or when writing it failed.
func (x *Executor) OverHTTP(ctx context.Context, v *Verb, header func(name string) string, read func() (Request, error)) (Reply, *client.Error) {
	return x.do(ctx, arrival{verb: v, via: overHTTP, begun: time.Now(), header: header, read: func() (Request, error) {
		q, err := read()
		q.mayForward = true
		return q, err
	}})
}

// FromPage carries out a request of a page, between Enter and Leave, like OverHTTP. Reads are not traced, because a
// live page reads every second. It counts as a request over HTTP, because that is how the page was asked for. Unlike
// OverHTTP it gets a request that is already read, because a page makes requests itself and has no body of one.
//
// A page of a cluster of several shards asks the leaders, so that it shows the change that was just made on it.
func (x *Executor) FromPage(ctx context.Context, v *Verb, q Request) (Reply, *client.Error) {
	if x.router != nil {
		q.Lag = nil
	}
	q.mayForward = true
	return x.do(ctx, arrival{verb: v, via: overHTTP, begun: time.Now(), isUntraced: v.reads, read: func() (Request, error) {
		return q, q.validate()
	}})
}
