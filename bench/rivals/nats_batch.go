package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go"
)

// putBatches publishes in atomic batches, one after the other.
func (c *natsClient) putBatches(ctx context.Context, jobs []job) error {
	for part := range slices.Chunk(jobs, natsBatch) {
		if err := c.putBatch(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// putBatch publishes one atomic batch: the last message commits it, and is answered.
func (c *natsClient) putBatch(ctx context.Context, jobs []job) error {
	c.batch++
	id := fmt.Sprintf("%p-%d", c, c.batch)
	for i, j := range jobs {
		m := natsMessage(j)
		m.Header.Set("Nats-Batch-Id", id)
		m.Header.Set("Nats-Batch-Sequence", strconv.Itoa(i+1))
		switch i {
		case len(jobs) - 1:
			m.Header.Set("Nats-Batch-Commit", "1")
			return c.commit(ctx, m, len(jobs))
		case 0: // is answered at once, if with nothing: a server takes batches there
			if _, err := c.nc.RequestMsgWithContext(ctx, m); err != nil {
				return err
			}
		default:
			if err := c.nc.PublishMsg(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *natsClient) commit(ctx context.Context, m *nats.Msg, size int) error {
	reply, err := c.nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return err
	}
	var ack struct {
		Count int `json:"count"`
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(reply.Data, &ack); {
	case err != nil:
		return fmt.Errorf("read the answer to a batch: %w", err)
	case ack.Error != nil:
		return errors.New("batch: " + ack.Error.Description)
	case ack.Count != size:
		return fmt.Errorf("%d of a batch of %d were taken", ack.Count, size)
	}
	return nil
}
