package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/carillon-io/carillon/client"
)

// outageAhead is how long before the first missed job all nodes are killed: longer than a cluster decides ahead, so that none
// of these jobs is decided. outageRateGoal is how many runs a second all shards together may catch up, as a multiple of the
// rate that the status tells: a tenth of it may be spent at once.
const (
	outageAhead    = 12 * time.Second
	outageRateGoal = 1.1
)

// aheadSubject is the target of the jobs that were decided before the nodes were killed.
const aheadSubject = "bench.ahead"

// outageCluster is a cluster of several shards all of whose nodes are away while jobs are due.
type outageCluster struct {
	*outageCmd
	*outside
	from time.Time // of the missed jobs, which are due from then on for Away
	kill time.Time
}

// measureShards measures how fast all shards together catch up.
func (c *outageCmd) measureShards(s *stand) *result {
	r := &result{Name: "outage_shards", Setting: fmt.Sprintf("%d nodes with three NATS servers outside and %d shards; SIGKILL of all nodes; %d one-shots are due over %s, from %s after that on, and %d a second before, "+
		"which were decided ahead; then the nodes start again; arrival at NATS subscribers in other processes", c.Nodes, c.Shards, c.Count, c.Away, outageAhead, c.Rate)}
	o, err := s.launchOutside("outage", c.Nodes, c.Shards)
	defer o.clear()
	if err == nil {
		err = (&outageCluster{outageCmd: c, outside: o}).run(s, r)
	}
	if err != nil && s.ctx.Err() == nil {
		r.breaks("%v", err)
	}
	return r
}

// run kills all nodes, starts them again after the outage, and counts what arrives in each second.
func (o *outageCluster) run(s *stand, r *result) error {
	missed, err := s.startReceiver(o.urls, overdueSubject)
	if err != nil {
		return err
	}
	ahead, err := s.startReceiver(o.urls, aheadSubject)
	if err != nil {
		return err
	}
	if err := o.register(s); err != nil {
		return err
	}
	s.wait(time.Until(o.kill))
	for _, m := range o.nodes {
		m.kill()
	}
	s.say("outage: all nodes are killed; they start again in %s", time.Until(o.from.Add(o.Away)).Round(time.Second))
	s.wait(time.Until(o.from.Add(o.Away)))
	rate, err := o.restart(s, r)
	if err != nil {
		return err
	}
	s.wait(o.For)
	receipts, err := missed.collect()
	if err != nil {
		return err
	}
	o.tell(r, receipts, rate)
	if receipts, err = ahead.collect(); err != nil {
		return err
	}
	o.tellAhead(r, receipts)
	return s.ctx.Err()
}

// register puts the jobs that will be missed, and those that will be decided when the nodes are killed.
func (o *outageCluster) register(s *stand) error {
	aheads := int(float64(o.Rate) * (outageAhead - 3*time.Second).Seconds())
	o.from = time.Now().Add(outageAhead + outageAhead + headStart(o.Count+aheads)).Truncate(time.Second)
	o.kill = o.from.Add(-outageAhead)
	err := putJobs(s.ctx, o.client, func(yield func(client.Job) bool) {
		for i := range o.Count + aheads {
			n, prefix, subject, due := i, "overdue", overdueSubject, o.from.Add(o.Away*time.Duration(i)/time.Duration(o.Count))
			if i >= o.Count {
				n, prefix, subject = i-o.Count, "ahead", aheadSubject
				due = o.kill.Add(time.Second + time.Second*time.Duration(n)/time.Duration(o.Rate))
			}
			j := fireJob(fmt.Sprintf("%s-%d", prefix, n), "@at "+client.At(due.Truncate(time.Millisecond)).String(), payload)
			j.Target.Subject = subject
			if !yield(j) {
				return
			}
		}
	})
	if err == nil && time.Until(o.kill) < outageAhead {
		err = errors.New("registering took longer than its head start; the machine is too slow for this size")
	}
	return err
}

// restart starts all nodes again, and returns the rate at which they say that they catch up.
func (o *outageCluster) restart(s *stand, r *result) (rate float64, err error) {
	began := time.Now()
	for _, m := range o.nodes {
		if err := m.launch(s); err != nil {
			return 0, err
		}
	}
	if err := awaitAll(o.nodes); err != nil {
		return 0, err
	}
	r.add("ready_s", "from the start to the last ready line", time.Since(began).Seconds(), "s")
	o.client.Close()
	if o.client, err = connect(o.nodes[0].server); err != nil {
		return 0, err
	}
	err = o.until(s, "each shard has a leader", func(rows []client.ShardStatus) bool {
		return !slices.ContainsFunc(rows, func(row client.ShardStatus) bool { return !row.HasLeader })
	})
	if err != nil {
		return 0, err
	}
	r.add("led_s", "from the start until each shard has a leader", time.Since(began).Seconds(), "s")
	st, err := statusOf(s, o.client)
	if err == nil && st.CatchUp.Jobs == 0 {
		err = fmt.Errorf("no job has missed ticks; want more than %d jobs", o.Count)
	}
	r.count("jobs_before", "jobs with missed runs then", st.CatchUp.Jobs)
	r.add("rate", "runs a second that may be spent on them, as the status says", st.CatchUp.Rate, "/s")
	return st.CatchUp.Rate, err
}

// tell adds how many missed runs arrived in each second, and fails if they were more than the rate allows.
func (o *outageCluster) tell(r *result, receipts []receipt, rate float64) {
	arrived := firstArrivals(receipts)
	seconds := perSecond(arrived)
	r.count("caught_up", "missed runs that arrived", len(arrived))
	r.extent("caught_up_per_s", "in a second", seconds, "/s")
	r.count("caught_up_most", "most in the fullest second, wherever it begins", mostWithin(arrived, time.Second))
	if limit := math.Round(rate * outageRateGoal); len(seconds) > 0 && slices.Max(seconds) > limit {
		r.breaks("%.0f missed runs arrived within one second, of %.0f allowed", slices.Max(seconds), limit)
	}
	r.none("early", "missed runs that no node had missed", count(receipts, func(one receipt) bool { return one.arrived.Before(o.from.Add(o.Away)) }))
}

// tellAhead adds how many of the runs that were decided before the outage arrived at once. The pace of catching up does not
// hold them back.
func (o *outageCluster) tellAhead(r *result, receipts []receipt) {
	arrived := slices.DeleteFunc(firstArrivals(receipts), func(at time.Time) bool { return at.Before(o.from) })
	r.count("ahead", "runs that were decided before, and arrived after it", len(arrived))
	r.count("ahead_most", "of these, most in any one second", mostWithin(arrived, time.Second))
}

// firstArrivals returns when each run first arrived, in order.
func firstArrivals(receipts []receipt) (at []time.Time) {
	slices.SortFunc(receipts, func(a, b receipt) int { return a.arrived.Compare(b.arrived) })
	seen := make(map[string]bool, len(receipts))
	for _, one := range receipts {
		if !seen[one.runID] {
			seen[one.runID] = true
			at = append(at, one.arrived)
		}
	}
	return at
}

// perSecond returns how many instants lie in each second from the first of them on, without the last, which may not be whole.
func perSecond(at []time.Time) (counts []float64) {
	for _, one := range at {
		second := int(one.Sub(at[0]) / time.Second)
		for len(counts) <= second {
			counts = append(counts, 0)
		}
		counts[second]++
	}
	return counts[:max(0, len(counts)-1)]
}

// mostWithin returns the greatest number of instants, which are in order, that lie within a time.
func mostWithin(at []time.Time, length time.Duration) (most int) {
	first := 0
	for i, one := range at {
		for one.Sub(at[first]) >= length {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// count returns how many receipts fit.
func count(receipts []receipt, fits func(receipt) bool) (n int) {
	for _, one := range receipts {
		if fits(one) {
			n++
		}
	}
	return n
}
