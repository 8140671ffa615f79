package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
)

// clusterCmd measures the cost of replication: a cluster of two nodes and a witness, whose embedded NATS
// servers sync every write, in comparison with a single server.
type clusterCmd struct {
	Puts  int           `help:"Registrations of one client, one after the other, at each of the two." default:"2000"`
	Armed int           `help:"Jobs armed while lateness is measured." default:"10000"`
	Rate  int           `help:"One-shots a second." default:"500"`
	For   time.Duration `help:"Length of each window of lateness." default:"10s"`
	Load  int           `help:"Jobs of each of two bulk loads: one with the standby there, one with it gone." default:"200000"`
	Count int           `help:"Jobs that there are when the standby is sent a checkpoint; 0 is as many as there are by then." default:"0"`
}

// The bounds of the workload.
const (
	clusterLoadMax  = 5_000_000
	clusterCountMax = 10_000_000
	// It ends a workload whose cluster hangs, instead of a person.
	clusterMost = 45 * time.Minute // for the whole workload
)

// Validate returns an error for sizes out of range.
func (c *clusterCmd) Validate() error {
	return errors.Join(
		within("puts", c.Puts, 1, 1_000_000),
		within("load", c.Load, 1, clusterLoadMax),
		within("count", c.Count, 0, clusterCountMax),
		c.fires("").Validate(),
	)
}

// fires returns the load whose lateness is measured. A cluster decides ticks 10 s ahead, so the
// one-shots are registered longer than that before they are due. The single server gets them as early,
// so that both have the same load.
func (c *clusterCmd) fires(group string) *jitterCmd {
	return &jitterCmd{Rate: c.Rate, For: c.For, Armed: c.Armed, Payload: defaultJitter().Payload, group: group, ahead: clusterAhead}
}

// It exceeds the lead of a cluster, 10 s, by two seconds.
const clusterAhead = 12 * time.Second

// contest is a cluster and a single server that run on the same machine at the same time. Both run at the same time
// and are measured in turns, so that whatever else the machine does meets both.
type contest struct {
	*clusterCmd
	stand *stand
	// cluster and alone run from the first part to the last; apply stops alone when nothing is compared any more.
	cluster *trio
	alone   *server
	single  *client.Client // client of the single server
	loaded  int            // number of jobs of the mix that the cluster has
	row     rowCount       // rows in the commits of the bulk loads
}

// part is one measurement of the contest, with one result. setting is printed with the figures, because a figure
// without it cannot be compared.
type part struct {
	name, setting string
	// run adds its figures to the result, also if it fails.
	run func(*result) error
}

// parts returns the measurements, in the order in which they run. Each part continues with the jobs that the ones
// before it have left, so a failed part ends the contest.
func (n *contest) parts() []part {
	return []part{
		{"cluster_put", fmt.Sprintf("%d registrations, one after the other, at a server alone and at a cluster (two nodes and a witness, "+
			"3 replicas, each synced), in turns of %d", n.Puts, putTurn), n.put},
		{"cluster_lateness", fmt.Sprintf("%d one-shots a second for %s, %d more armed, %d windows in turn at a server alone (it decides 250ms "+
			"ahead) and at a cluster (10s ahead), registered %s ahead at both; arrival at a NATS subscriber in another process",
			n.Rate, n.For, n.Armed, 2*latenessTurns, clusterAhead), n.lateness},
		{"cluster_standby", fmt.Sprintf("%d jobs by jobs.put_many with the standby there; SIGKILL of the standby; %d more; start of the "+
			"standby", n.Load, n.Load), n.apply},
		{"cluster_checkpoint", fmt.Sprintf("the standby starts without its data, and the stream was emptied, while %d one-shots a second "+
			"fire", n.Rate), n.checkpoint},
	}
}

func (c *clusterCmd) measure(s *stand) []*result {
	ctx, cancel := context.WithTimeoutCause(s.ctx, clusterMost, fmt.Errorf("it was not over after %s", clusterMost))
	defer cancel()
	bounded := *s
	bounded.ctx = ctx
	n := &contest{clusterCmd: c, stand: &bounded}
	defer n.close()
	var results []*result
	for _, p := range n.parts() {
		r := &result{Name: p.name, Setting: p.setting}
		err := n.do(p, r)
		if err != nil && s.ctx.Err() == nil {
			r.breaks("%v", errors.Join(context.Cause(ctx), err))
		}
		results = append(results, bounded.show(r))
		if err != nil || ctx.Err() != nil {
			break
		}
	}
	return results
}

// do runs a part. It fails if the leader changed meanwhile, because such figures are not comparable. It opens the
// processes with the first part, so that their start is measured with it.
func (n *contest) do(p part, r *result) error {
	if n.alone == nil {
		if err := n.open(r); err != nil {
			return err
		}
	}
	if err := p.run(r); err != nil {
		return err
	}
	return n.cluster.sameReign(n.stand)
}

// open starts the processes. The caller calls close even after an error.
func (n *contest) open(r *result) (err error) {
	s := n.stand
	if err := s.demand(2 * max(n.Count, 2*n.Load+n.Armed)); err != nil {
		return err
	}
	if n.alone, n.single, err = s.start("alone"); err != nil {
		return err
	}
	if n.cluster, err = s.startTrio(); err != nil {
		return err
	}
	r.add("start_s", "start of the cluster, to the third ready line", n.cluster.startedIn.Seconds(), "s")
	return nil
}

// close ends the processes and removes their data.
func (n *contest) close() {
	if n.single != nil {
		n.single.Close()
	}
	if n.alone != nil {
		n.alone.clear()
	}
	if n.cluster != nil {
		n.cluster.clear()
	}
}

// foreign returns a meter of the processor time of processes outside the contest. The contest's own processes are left
// out, because their load is wanted.
func (n *contest) foreign() *meter {
	t := n.cluster
	return startMeter(t.leader.cmd.Process.Pid, t.standby.cmd.Process.Pid, t.witness.cmd.Process.Pid, n.alone.cmd.Process.Pid)
}

// ratio adds the cluster's time divided by the single server's. Both times must be of the same percentile. Nothing
// is added if the divisor was not measured.
func ratio(r *result, key, label string, cluster, alone time.Duration) {
	if alone > 0 {
		r.add(key, label, float64(cluster)/float64(alone), "")
	}
}
