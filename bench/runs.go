package bench

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/job"
)

// runsCmd measures the processor time of a run in a cluster of one shard and in one of several, in turns: both clusters are
// there all the time, and only one of them fires.
type runsCmd struct {
	Shards  int           `help:"Shards of the second cluster." default:"16"`
	Nodes   int           `help:"Nodes of each cluster." default:"2"`
	Rate    int           `help:"Runs a second." default:"4000"`
	For     time.Duration `help:"Length of each window." default:"15s"`
	Turns   int           `help:"Windows of each cluster." default:"3"`
	Profile string        `help:"Write processor profiles of the nodes in their last windows into this directory." type:"path" placeholder:"DIR"`
}

// Validate returns an error for sizes out of range.
func (c *runsCmd) Validate() error {
	if err := job.ValidateShards(c.Shards); err != nil || c.Shards < 2 {
		return errors.Join(err, fmt.Errorf("--shards is %d; want 2 or more", c.Shards))
	}
	if c.For < time.Second || c.For > windowMax {
		return fmt.Errorf("--for is %s; want a second to %s", c.For, windowMax)
	}
	return errors.Join(within("nodes", c.Nodes, 2, outsideNodesMax), within("rate", c.Rate, 100, everyMax), within("turns", c.Turns, 1, 20))
}

// runsGoal is the most processor time of a run with several shards, as a multiple of that with one.
const runsGoal = 1.3

func (c *runsCmd) measure(s *stand) []*result {
	r := &result{Name: "runs", Setting: fmt.Sprintf("two clusters of %d nodes with three NATS servers outside, one shard and %d; %d × @every 1s to a NATS subscriber, "+
		"in %d turns of %s each", c.Nodes, c.Shards, c.Rate, c.Turns, c.For)}
	if err := c.run(s, r); err != nil && s.ctx.Err() == nil {
		r.breaks("%v", err)
	}
	return []*result{s.show(r)}
}

// run starts both clusters, and lets them fire in turns.
func (c *runsCmd) run(s *stand, r *result) error {
	var both [2]*contender
	for i, shards := range []int{1, c.Shards} {
		o, err := s.launchOutside("shards-"+strconv.Itoa(shards), c.Nodes, shards)
		defer o.clear()
		if err != nil {
			return err
		}
		if both[i], err = newContender(o, c.Rate); err != nil {
			return err
		}
		defer both[i].nc.Close()
	}
	if c.Profile != "" {
		if err := os.MkdirAll(c.Profile, 0o755); err != nil {
			return err
		}
	}
	for turn := range c.Turns {
		for i := range both {
			one := both[(turn+i)%2] // whatever the first of a turn suffers, each suffers
			s.say("runs: turn %d of %d, %d shards", turn+1, c.Turns, one.shards)
			profile := ""
			if turn == c.Turns-1 {
				profile = c.Profile
			}
			if err := one.turn(s, c.For, profile); err != nil {
				return fmt.Errorf("%d shards: %w", one.shards, err)
			}
		}
	}
	tellContenders(r, both[0], both[1])
	return nil
}

// tellContenders adds the figures of both clusters, and their ratios turn by turn.
func tellContenders(r *result, one, several *contender) {
	for _, f := range []struct {
		key, label, unit string
		of               func(*turn) float64
	}{
		{"nodes_us_per_run", "processor time of the nodes a run", "µs", func(t *turn) float64 { return t.nodes }},
		{"nats_us_per_run", "of the NATS servers", "µs", func(t *turn) float64 { return t.nats }},
		{"all_us_per_run", "of both", "µs", func(t *turn) float64 { return t.nodes + t.nats }},
		{"commits_per_second", "commits a second", "/s", func(t *turn) float64 { return t.commits }},
		{"syncs_per_second", "syncs of logs a second, leaders and followers", "/s", func(t *turn) float64 { return t.syncs }},
		{"per_second", "runs a second", "/s", func(t *turn) float64 { return t.rate }},
		{"lateness_p99_ms", "lateness, p99", "ms", func(t *turn) float64 { return t.late }},
	} {
		var ofOne, ofSeveral, ratios []float64
		for i := range min(len(one.turns), len(several.turns)) {
			a, b := f.of(&one.turns[i]), f.of(&several.turns[i])
			ofOne, ofSeveral, ratios = append(ofOne, a), append(ofSeveral, b), append(ratios, b/a)
		}
		r.extent("one_"+f.key, "one shard, "+f.label, ofOne, f.unit)
		r.extent("several_"+f.key, fmt.Sprintf("%d shards, %s", several.shards, f.label), ofSeveral, f.unit)
		r.extent("ratio_"+f.key, "several to one, "+f.label, ratios, "")
	}
	r.add("goal_ratio", "goal for the nodes' processor time, several to one, at most", runsGoal, "")
}
