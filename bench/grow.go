package bench

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// growCmd measures what it costs a cluster of several shards that a node joins, and that one leaves: three nodes with embedded
// NATS servers, to which a fourth comes; afterwards it drains.
type growCmd struct {
	Shards int           `help:"Shards of the cluster." default:"8"`
	Jobs   int           `help:"Jobs armed for a far future, which the copies have." default:"200000"`
	Every  int           `help:"Jobs that tick once a second." default:"200"`
	Calm   time.Duration `help:"Length of the window before the node comes." default:"15s"`
	For    time.Duration `help:"Length of the windows in which it comes, and in which it drains." default:"45s"`
}

// Validate returns an error for sizes out of range.
func (c *growCmd) Validate() error {
	if err := job.ValidateShards(c.Shards); err != nil || c.Shards < 4 {
		return errors.Join(err, fmt.Errorf("--shards is %d; want 4 or more", c.Shards))
	}
	if c.Calm < time.Second || c.Calm > windowMax || c.For < 10*time.Second || c.For > windowMax {
		return fmt.Errorf("--calm is %s and --for is %s; want a second, and ten, to %s", c.Calm, c.For, windowMax)
	}
	return errors.Join(within("jobs", c.Jobs, 0, armedMax), within("every", c.Every, 1, everyMax))
}

// growth is a cluster that grows, with what is measured of it.
type growth struct {
	*trio
	*growCmd
	cl     *client.Client // of the first node
	before map[string]string
	pieces *pieces
}

func (c *growCmd) measure(s *stand) []*result {
	r := &result{Name: "grow", Setting: fmt.Sprintf("three nodes with %d shards, two copies of each and %d jobs; a fourth node joins, and drains again; %d × @every 1s; arrival at a NATS subscriber in another process", c.Shards, c.Jobs, c.Every)}
	t, err := s.launchNodes("grow", 4, 3, "--shards", fmt.Sprint(c.Shards))
	defer t.clear()
	g := &growth{trio: t, growCmd: c}
	if err == nil {
		err = g.run(s, r)
	}
	if err != nil && s.ctx.Err() == nil {
		r.breaks("%v", err)
	}
	return []*result{s.show(r)}
}

// run measures a calm window, one in which a node joins and one in which it drains.
func (g *growth) run(s *stand, r *result) (err error) {
	if g.cl, err = connect(g.members[0].server); err != nil {
		return err
	}
	defer g.cl.Close()
	if err := g.settled(s, 3); err != nil {
		return err
	}
	if err := arm(s, g.cl, g.Jobs); err != nil {
		return err
	}
	if g.before, err = identities(s, g.cl); err != nil {
		return err
	}
	if g.pieces, err = countPieces(g.members[0].ready.NATS); err != nil {
		return err
	}
	defer g.pieces.end()
	calm, err := g.window(s, g.Calm, nil)
	if err != nil {
		return err
	}
	r.spread("calm", "lateness, calm", calm.all)
	if err := g.joins(s, r, &calm); err != nil {
		return err
	}
	if err := g.drains(s, r, &calm); err != nil {
		return err
	}
	after, err := identities(s, g.cl)
	if err == nil && !maps.Equal(g.before, after) {
		r.breaks("ids or versions of jobs have changed: %d jobs before, %d after", len(g.before), len(after))
	}
	r.count("jobs", "jobs whose ids and versions are the same as before", len(g.before))
	return err
}

// joins lets the fourth node join while jobs fire.
func (g *growth) joins(s *stand, r *result, calm *tally) error {
	d := g.members[3]
	var leads, whole time.Duration
	t, err := g.window(s, g.For, func() (err error) {
		began := time.Now()
		if err = d.launch(s); err == nil {
			err = d.awaitReady(trioWait)
		}
		if err == nil {
			leads, err = g.until(s, began, "node d leads a shard", func(st *client.Status) bool { return leadsOf(st, "d") > 0 })
		}
		if err == nil {
			err = g.settled(s, 4)
			whole = time.Since(began)
		}
		return err
	})
	if err != nil {
		return err
	}
	tellMove(r, "join", &t, calm)
	r.add("join_leads_s", "from the start of its process until the node leads a shard", leads.Seconds(), "s")
	r.add("join_whole_s", "until no copy moves any more, and each node leads its share", whole.Seconds(), "s")
	stores := storesOf(d.dir)
	r.add("join_sent_bytes", "sent to it in checkpoints", float64(g.pieces.bytes.Load()), "B")
	r.add("join_stores_bytes", "its stores then", float64(stores), "B")
	r.add("join_ratio_bytes", "sent in checkpoints, to its stores", float64(g.pieces.bytes.Load())/float64(max(1, stores)), "")
	return nil
}

// drains empties the fourth node while jobs fire.
func (g *growth) drains(s *stand, r *result, calm *tally) error {
	var took time.Duration
	t, err := g.window(s, g.For, func() error {
		began := time.Now()
		if _, err := g.cl.Place(s.ctx, client.PlaceRequest{Verb: client.PlaceDrain, Node: "d"}); err != nil {
			return err
		}
		_, err := g.until(s, began, "node d is empty", func(st *client.Status) bool { return leadsOf(st, "d") == 0 && holdsOf(st, "d") == 0 })
		took = time.Since(began)
		return err
	})
	if err != nil {
		return err
	}
	tellMove(r, "drain", &t, calm)
	r.add("drain_s", "until the drained node leads nothing and holds the first shard alone", took.Seconds(), "s")
	return nil
}

// tellMove adds the lateness of a window in which copies moved, beside that of the calm one.
func tellMove(r *result, key string, t, calm *tally) {
	r.spread(key, "lateness while it "+key+"s", t.all)
	ratio(r, key+"_ratio_p99", "p99 to that of the calm window", t.all.at(99_000), calm.all.at(99_000))
	t.tellBroken(r)
}
