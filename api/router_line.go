package api

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// Bounds of what waits for the leader of one shard in another process. A leader that hangs keeps its requests until their
// time is over; without a bound for each shard they would take all places of this node, and those of the shards that work
// would wait behind them.
const (
	linesMax = 256                    // requests for all shards together, evenly shared
	lineMin  = 16                     // requests for one shard, at least
	lineWait = 500 * time.Millisecond // for a place
)

// newLines returns the lines of so many shards.
func newLines(shards int) []chan struct{} {
	lines := make([]chan struct{}, shards)
	for i := range lines {
		lines[i] = make(chan struct{}, max(lineMin, linesMax/shards))
	}
	return lines
}

// enterLine takes a place in the line of a shard, which leave gives back. It refuses the request if there is none soon. The
// request has no work here from now on.
func (r *router) enterLine(ctx context.Context, shard uint32, q *Request) (leave func(), err error) {
	q.stay.leave()
	line := r.lines[shard]
	leave = func() { <-line }
	select {
	case line <- struct{}{}:
		return leave, nil
	default:
	}
	wait := time.NewTimer(lineWait)
	defer wait.Stop()
	select {
	case line <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-wait.C:
		return nil, apierr.Errorf(apierr.Unavailable, "", "%d requests wait for the leader of shard %d, which does not answer them%s", cap(line), shard, unchanged)
	}
}
