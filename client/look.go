package client

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// lookTime bounds the search for a node that answers.
	lookTime = 500 * time.Millisecond
	// lookAsks is how often the search asks at the same time. NATS gives each question to a node at random: of four nodes one of
	// which hangs, it gets all of them once in 65,000 searches.
	lookAsks = 8
)

// look searches for a node that answers, after a request without an answer to all nodes, so that the next try is for that node
// alone; see [aim]. It ends with the first reply. In a cluster of one shard it learns nothing.
func (c *Client) look(ctx context.Context) {
	if !c.aim.isBlind(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	replies := make(chan *nats.Msg, lookAsks)
	for range lookAsks {
		go func() {
			m, _ := c.nc.RequestWithContext(ctx, c.subject("whoami", ""), nil)
			replies <- m
		}()
	}
	for range lookAsks {
		if m := <-replies; m != nil {
			c.aim.answered(m.Header.Get(atHeader))
			return
		}
	}
}
