package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// takeoverCmd loads many jobs into a cluster of several shards, and kills one of its nodes. Before, it does the same with a
// cluster of one shard and fewer jobs, so that the memory of a job can be compared.
type takeoverCmd struct {
	Jobs    int    `help:"Jobs of the cluster with several shards." default:"200000"`
	Shards  int    `help:"Its shards." default:"4"`
	Nodes   int    `help:"Nodes of each cluster." default:"2"`
	One     int    `help:"Jobs of the cluster with one shard; 0 leaves it out." default:"100000"`
	Every   int    `help:"Jobs that tick once a second from before the kill on." default:"200"`
	Divided string `help:"Data directory for node a of the cluster with several shards, which has its jobs: as carillon shard divide makes it with --cluster-name bench --node a. It is used up." type:"path" placeholder:"DIR"`
}

// Validate returns an error for sizes out of range.
func (c *takeoverCmd) Validate() error {
	if err := job.ValidateShards(c.Shards); err != nil || c.Shards < 2 {
		return errors.Join(err, fmt.Errorf("--shards is %d; want 2 or more", c.Shards))
	}
	return errors.Join(within("jobs", c.Jobs, 1, armedMax), within("one", c.One, 0, armedMax), within("nodes", c.Nodes, 2, outsideNodesMax), within("every", c.Every, 1, everyMax))
}

func (c *takeoverCmd) measure(s *stand) []*result {
	var results []*result
	var alone float64 // resident bytes a job with one shard
	for _, t := range []*takeover{
		{takeoverCmd: c, name: "takeover_one_shard", count: c.One, shards: 1},
		{takeoverCmd: c, name: "takeover", count: c.Jobs, shards: c.Shards},
	} {
		if t.count == 0 {
			continue
		}
		how := "by jobs.put_many through any node"
		if t.isDivided() {
			how = "of a divided directory"
		}
		r := &result{Name: t.name, Setting: fmt.Sprintf("%d nodes, three NATS servers outside, %d shards, %d jobs %s; SIGKILL of the node that leads shard 0, "+
			"while %d × @every 1s fire", c.Nodes, t.shards, t.count, how, c.Every)}
		err := t.run(s, r)
		if alone > 0 && t.perJob > 0 {
			r.add("rss_ratio", "resident bytes a job, several shards to one", t.perJob/alone, "")
		}
		if err != nil && s.ctx.Err() == nil {
			r.breaks("%v", err)
		}
		alone = t.perJob
		if results = append(results, s.show(r)); err != nil || s.ctx.Err() != nil {
			break
		}
	}
	return results
}

// takeover is one cluster that is loaded, and loses a node.
type takeover struct {
	*takeoverCmd
	*outside
	name   string
	count  int // jobs
	shards int
	load   *bulkLoad
	perJob float64 // resident bytes a job that a node holds; the mean of the nodes
}

// What a job needs in a node that holds it, in the NATS servers together, and on disk, estimated high: with two million
// jobs in four shards these were at most 415 B, with what does not grow with the jobs, and 1,738 B.
const (
	takeoverMemoryPerCopy = 450
	takeoverDiskPerJob    = 1800
	takeoverDiskStreams   = 4 << 30 // of three NATS servers, whose streams are bounded
	takeoverMemory        = 1 << 30 // of all processes, empty
)

// demand returns an error if the machine has too little memory or disk.
func (t *takeover) demand(s *stand) error {
	copies := float64(t.count) * (1 + float64(t.Nodes-1)) // of two nodes; with more a node holds less than all
	if t.Nodes > 2 {
		copies = float64(t.count) * (2 + float64(t.Nodes-2)/float64(t.shards))
	}
	if have, need := availableMemory(), copies*takeoverMemoryPerCopy+takeoverMemory; have > 0 && need > have {
		return fmt.Errorf("%d jobs need about %.1f GB of memory, %.1f GB are available; want fewer jobs", t.count, need/1e9, have/1e9)
	}
	if have, need := measure.FreeDisk(s.dir), float64(t.count)*takeoverDiskPerJob+takeoverDiskStreams; have > 0 && need > have {
		return fmt.Errorf("%d jobs need about %.1f GB of disk, %s has %.1f GB; want fewer jobs, or --dir elsewhere", t.count, need/1e9, s.dir, have/1e9)
	}
	return nil
}

// isDivided reports whether the cluster begins with the jobs of a directory.
func (t *takeover) isDivided() bool { return t.Divided != "" && t.shards > 1 }

// run loads the cluster, kills a node, and starts it again.
func (t *takeover) run(s *stand, r *result) (err error) {
	if err := t.demand(s); err != nil {
		return err
	}
	if t.isDivided() {
		if err := os.Rename(t.Divided, filepath.Join(s.dir, t.name+"-a")); err != nil {
			return fmt.Errorf("--divided: %w; want a directory on the file system of --dir", err)
		}
	}
	t.outside, err = s.launchOutside(t.name, t.Nodes, t.shards)
	defer t.clear()
	if err != nil {
		return err
	}
	s.wait(idleWait)
	empty := t.memories()
	if t.isDivided() {
		clear(empty) // no node was empty: their own memory counts for the jobs
		err = t.find(s, r)
	} else {
		err = t.fill(s, r)
	}
	if err != nil {
		return err
	}
	if err := t.weigh(s, r, empty); err != nil {
		return err
	}
	if err := t.lose(s, r); err != nil {
		return err
	}
	return t.tellPeaks(r)
}

// fill registers the jobs, and waits until all nodes are level.
func (t *takeover) fill(s *stand, r *result) error {
	t.load = newBulkLoad(s, t.count)
	before := cpuOfAll(t.nodes)
	err := t.load.run(t.client)
	t.load.tell(r)
	if err != nil {
		return err
	}
	r.add("load_cpu_us_per_job", "processor time of the nodes a job", (cpuOfAll(t.nodes)-before).Seconds()*1e6/float64(t.load.accepted), "µs")
	began := time.Now()
	if err := t.settle(s); err != nil {
		return err
	}
	r.add("load_level_s", "from the last reply until all copies are level", time.Since(began).Seconds(), "s")
	s.say("%s: loaded; leaving the nodes alone for %s", t.name, idleWait)
	s.wait(idleWait)
	return s.ctx.Err()
}

// find takes the jobs of the directory that the cluster was started with for those of the load. Both nodes hold them now: one
// has read them from its disk, and the others were sent them.
func (t *takeover) find(s *stand, r *result) error {
	t.load = newBulkLoad(s, 0) // there is nothing to compare with
	st, err := statusOf(s, t.client)
	t.load.accepted = st.Jobs
	r.count("found", "jobs of the divided directory", st.Jobs)
	if err == nil && st.Jobs != t.count {
		err = fmt.Errorf("the divided directory has %d jobs; want the %d of --jobs", st.Jobs, t.count)
	}
	return err
}

// counted checks that the cluster has as many jobs as it should.
func (t *takeover) counted(s *stand, r *result, key, when string, want int) error {
	st, err := statusOf(s, t.client)
	if err != nil {
		return err
	}
	r.count("jobs_"+key, "jobs "+when, st.Jobs)
	if st.Jobs != want {
		r.breaks("%d jobs were acknowledged, and there are %d %s", want, st.Jobs, when)
	}
	return nil
}

// heldBy returns the number of jobs of which a node has a copy.
func heldBy(rows []client.ShardStatus, node string) (n int) {
	for i := range rows {
		for _, one := range rows[i].Replicas {
			if one.Node == node {
				n += rows[i].Jobs
			}
		}
	}
	return n
}
