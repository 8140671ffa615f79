package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// office is the leadership of one shard: the node that has it, and what that node says of it.
type office struct {
	node  *node
	epoch uint64
	lsn   uint64
}

// offices returns the leadership of each shard, under the highest epoch if two nodes should say that they lead it. It
// asks the nodes over HTTP and not through NATS, which may be what is broken. It is an error if a shard has no leader;
// the others are in the result all the same.
func (c *cluster) offices() ([]office, error) {
	all := make([]office, c.shards)
	for _, n := range c.engines() {
		leads, err := n.leads(c.shards)
		if err != nil {
			continue // it is gone, or paused
		}
		for shard, o := range leads {
			if o.node != nil && o.epoch >= all[shard].epoch {
				all[shard] = o
			}
		}
	}
	var vacant []string
	for shard, o := range all {
		if o.node == nil {
			vacant = append(vacant, strconv.Itoa(shard))
		}
	}
	switch {
	case len(vacant) == 0:
		return all, nil
	case c.shards == 1:
		return all, errors.New("no node says that it leads")
	default:
		return all, fmt.Errorf("no node says that it leads shard %s", strings.Join(vacant, ", "))
	}
}

// askEvery is the pause between two questions for the offices. With several shards a question costs a node some
// milliseconds.
func (c *cluster) askEvery() time.Duration {
	if c.shards > 1 {
		return 10 * lookEvery
	}
	return lookEvery
}

// awaitOffices waits until each shard has a leader.
func (c *cluster) awaitOffices(ctx context.Context) (all []office, err error) {
	err = untilEvery(ctx, c.askEvery(), serveWait, func() error {
		all, err = c.offices()
		return err
	})
	return all, err
}

// leads returns by shard what a node leads; the office of a shard that it does not lead has no node. With several shards
// it asks for the metrics, since the status of such a cluster is that of all its nodes.
func (n *node) leads(shards int) ([]office, error) {
	all := make([]office, shards)
	if shards == 1 {
		s, err := n.status()
		if err == nil && s.Role == "leader" {
			all[0] = office{n, s.Epoch, s.LSN}
		}
		return all, err
	}
	families, err := n.families("carillon_info", "carillon_epoch", "carillon_lsn")
	if err != nil {
		return nil, err
	}
	for shard := range all {
		label := fmt.Sprintf(`{shard="%d"}`, shard)
		for labels := range families["carillon_info"] {
			if strings.Contains(labels, `role="leader"`) && strings.Contains(labels, label[1:len(label)-1]) {
				all[shard] = office{n, uint64(families["carillon_epoch"][label]), uint64(families["carillon_lsn"][label])}
			}
		}
	}
	return all, nil
}

// ledBy returns the shards that a node leads.
func ledBy(all []office, n *node) []int {
	var shards []int
	for shard, o := range all {
		if o.node == n {
			shards = append(shards, shard)
		}
	}
	return shards
}

// spread demands that no node leads two shards more than another one, because the product would then hand one over in the
// midst of the next round.
func (c *cluster) spread(all []office) error {
	var counts []int
	for _, n := range c.engines() {
		counts = append(counts, len(ledBy(all, n)))
	}
	if c.shards > 1 && slices.Max(counts)-slices.Min(counts) > 1 {
		return fmt.Errorf("the nodes lead %v shards; want them spread", counts)
	}
	return nil
}

// sameEpochs reports whether no leadership began between two looks.
func sameEpochs(a, b []office) bool {
	return slices.EqualFunc(a, b, func(x, y office) bool { return x.epoch == y.epoch })
}

// begunBetween returns how many leaderships began between two looks.
func begunBetween(before, after []office) int {
	n := 0
	for shard := range after {
		n += int(after[shard].epoch - before[shard].epoch)
	}
	return n
}
