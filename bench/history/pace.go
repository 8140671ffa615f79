package history

import (
	"context"
	"sync"
	"time"
)

// Keep lets the client have jobs of one shard only. It is called before anything else.
func (c *Client) Keep(shard, shards int) { c.shard, c.shards = shard, shards }

// pacedMax bounds the requests of Pace that have no answer yet.
const pacedMax = 200

// Pace registers a one-shot in each step until ctx ends, and waits for no answer before the next one, so that the
// acknowledgements show to a step for how long there were none. It returns when the last request is answered or given
// up. It is not for a client that does anything else at the same time.
func (c *Client) Pace(ctx context.Context, step time.Duration) {
	var open sync.WaitGroup
	free := make(chan struct{}, pacedMax)
	steps := time.NewTicker(step)
	defer steps.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-steps.C:
			free <- struct{}{}
			o := c.newJob(c.randomOneShot())
			open.Go(func() {
				c.put(o, o.spec, nil)
				<-free
			})
		}
	}
	open.Wait()
}
