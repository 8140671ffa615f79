package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// The repetition of a request for which the server was too busy: the number of tries, and the first
// pause. Each pause is twice as long as the one before.
const (
	bulkTries    = 8
	bulkPauseMin = 100 * time.Millisecond
)

// putBulk registers the jobs of a request. It puts those again that their shard has refused for want of a leader.
func (c *Client) putBulk(ctx context.Context, b *bulk, wait *leaderWait) error {
	err := c.putBody(ctx, b.body, &b.reply)
	if err == nil {
		err = b.reply.check(b.jobs)
	}
	if err != nil || c.opts.NoRetry {
		return err
	}
	return c.putAgain(ctx, b, wait)
}

// putMany sends an encoded bulk registration. If a try before the answered one may have registered jobs, their refusals say so.
func (c *Client) putMany(ctx context.Context, body []byte, reply *PutManyReply) error {
	earlier, err := c.exchangeInDoubt(ctx, c.bulkCall(body), reply)
	if err != nil {
		return err
	}
	reply.doubtResults(earlier)
	return nil
}

// putBody sends a request. It repeats it while the server is too busy, because the server has then done
// nothing of it.
func (c *Client) putBody(ctx context.Context, body []byte, reply *PutManyReply) error {
	pause := bulkPauseMin
	for try := 1; ; try++ {
		err := c.putMany(ctx, body, reply)
		if !errors.Is(err, CodeRateLimited) || try == bulkTries || !sleep(ctx, pause) {
			return err
		}
		pause *= 2
	}
}

// putAgain puts jobs again, as long as some are refused for want of a leader and the wait is not over. Then the results
// stand as they are; those of jobs that an earlier try may have registered say so. Only a success can tell that such a job
// is registered, so they have a whole wait of their own. A repetition that has begun is not cut short by the end of the
// wait, because the outcome of its jobs would be unknown; it has the time of any bulk registration. An error of a
// repetition leaves that outcome unknown.
func (c *Client) putAgain(ctx context.Context, b *bulk, wait *leaderWait) error {
	var until time.Time // end of the wait, once it is needed
	for pause := retryPauseMin; ; pause = min(2*pause, retryPauseMax) {
		left := b.refused()
		if len(left) == 0 {
			wait.succeeded()
			return nil
		}
		if until.IsZero() {
			if until = wait.end(); b.isInDoubt(left) {
				until = time.Now().Add(wait.most)
			}
		}
		if pause > time.Until(until) || !sleep(ctx, pause) {
			return nil
		}
		var reply PutManyReply
		if err := c.putBody(ctx, b.part(left), &reply); err != nil {
			return err
		}
		if err := reply.check(len(left)); err != nil {
			return err
		}
		for i, n := range left {
			reply.Results[i].doubt(doubtOfResult(b.reply.Results[n].Error))
			b.reply.Results[n] = reply.Results[i]
		}
		b.reply.Accepted += reply.Accepted
		b.reply.Rejected -= reply.Accepted
	}
}

// leaderWait bounds how long the requests of a PutAll wait for the leaders of shards. They share one wait, so that a shard
// which stays without a leader costs it once and not in each request. Safe for concurrent use.
type leaderWait struct {
	most time.Duration

	mu    sync.Mutex
	until time.Time // zero: no request waits, or has waited in vain
}

// end returns until when a request may wait. The first call begins the wait.
func (w *leaderWait) end() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.until.IsZero() {
		w.until = time.Now().Add(w.most)
	}
	return w.until
}

// succeeded says that a request has found all leaders. The next one that does not waits anew.
func (w *leaderWait) succeeded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = time.Time{}
}

// check returns an error if a reply has not one result for each job.
func (r *PutManyReply) check(jobs int) error {
	if len(r.Results) != jobs {
		return fmt.Errorf("client: the reply has %d results for %d jobs", len(r.Results), jobs)
	}
	return nil
}

// refused returns the places of the jobs that may be put again: no leader took them, and no later job of their name is
// registered, which they would replace.
func (b *bulk) refused() (places []int) {
	for n := range b.reply.Results {
		if e := b.reply.Results[n].Error; e != nil && (e.Code == CodeUnavailable || e.Code == CodeNotLeader) {
			places = append(places, n)
		}
	}
	if len(places) == 0 {
		return nil
	}
	last := make(map[string]int) // place of the last job of each name that is registered
	for n := range b.reply.Results {
		if r := &b.reply.Results[n]; r.Error == nil {
			last[r.Name] = n
		}
	}
	kept := places[:0]
	for _, n := range places {
		if at, has := last[b.reply.Results[n].Name]; !has || at < n {
			kept = append(kept, n)
		}
	}
	return kept
}

// isInDoubt reports whether one of some refused jobs may be registered.
func (b *bulk) isInDoubt(places []int) bool {
	return slices.ContainsFunc(places, func(n int) bool { return doubtOfResult(b.reply.Results[n].Error) != nil })
}

// part returns a request of some of the jobs.
func (b *bulk) part(places []int) []byte {
	body := []byte(bulkHead)
	for i, n := range places {
		begin := len(bulkHead)
		if n > 0 {
			begin = b.ends[n-1] + 1 // after the comma
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, b.body[begin:b.ends[n]]...)
	}
	return append(body, bulkTail...)
}
