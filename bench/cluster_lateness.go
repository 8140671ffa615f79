package bench

import (
	"fmt"

	"github.com/carillon-io/carillon/client"
)

// latenessTurns is the number of windows for each of the two sides. Two windows for each side show whether the machine
// changed between them.
const latenessTurns = 2

// side is one of the two servers whose lateness is compared: the cluster or the single server. Both get the same
// load in turn, each from the same client program.
type side struct {
	// name begins the keys of the figures.
	name   string
	server *server
	client *client.Client
	tally  tally // tally of all its windows
}

// lateness compares how late runs arrive from the two sides.
func (n *contest) lateness(r *result) error {
	sides := []*side{
		{name: "alone", server: n.alone, client: n.single},
		{name: "cluster", server: n.cluster.leader.server, client: n.cluster.client},
	}
	for _, one := range sides {
		if err := arm(n.stand, one.client, n.Armed); err != nil {
			return err
		}
	}
	n.loaded = n.Armed
	m := n.foreign()
	// Turn about, so that a machine that slows down meets both sides.
	for turn := range latenessTurns {
		for _, one := range sides {
			if err := n.turn(one, turn); err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
		}
	}
	m.stop()
	var both tally
	for _, one := range sides {
		r.spread(one.name, one.name, one.tally.all)
		both.add(&one.tally)
	}
	alone, cluster := sides[0].tally.all, sides[1].tally.all
	ratio(r, "ratio_p50", "cluster to alone, p50", cluster.at(50_000), alone.at(50_000))
	ratio(r, "ratio_p99", "cluster to alone, p99", cluster.at(99_000), alone.at(99_000))
	r.add("goal_ratio_p99", "goal for it, at most", latenessGoal, "")
	r.count("received", "received in the windows", len(both.all))
	both.tellBroken(r)
	m.tellForeign(r)
	return n.tellLaunches(r, sides)
}

// A cluster decides further ahead, so a launch does not wait for the network; the rest is the price of more processes
// on one machine. It is a ratio, because the absolute lateness is that of the machine.
const latenessGoal = 1.5

// turn runs one window at one side.
func (n *contest) turn(one *side, turn int) error {
	n.stand.say("lateness: window %d %s", turn+1, one.name)
	var figures result // of this window only; not reported
	t, err := n.fires(fmt.Sprintf("%s-%d-", one.name, turn)).fire(n.stand, one.server, one.client, &figures)
	one.tally.add(&t)
	return err
}

// add adds the tally of another window.
func (t *tally) add(other *tally) {
	t.all = append(t.all, other.all...)
	t.shots = append(t.shots, other.shots...)
	t.early += other.early
	t.missing += other.missing
	t.doubled += other.doubled
	t.strange += other.strange
}

// tellLaunches adds the lateness of launches that the servers themselves report. It does not include the
// way to the receiver.
func (n *contest) tellLaunches(r *result, sides []*side) error {
	for _, one := range sides {
		st, err := statusOf(n.stand, one.client)
		if err != nil {
			return err
		}
		r.add(one.name+"_launch_p50_ms", one.name+": launch, as the server says, p50", st.Lateness.P50MS, "ms")
		r.add(one.name+"_launch_p99_ms", one.name+": launch, as the server says, p99", st.Lateness.P99MS, "ms")
		if st.Failed > 0 || st.Dead > 0 {
			r.breaks("%s: %d attempts failed, %d runs are dead", one.name, st.Failed, st.Dead)
		}
	}
	return nil
}
