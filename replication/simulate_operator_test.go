package replication

import (
	"context"
	"encoding/json"
	"time"

	"github.com/carillon-io/carillon/job"
)

// Faults of machines, and what operators do.

// crash ends the process, and starts another one later.
func (m *machine) crash() {
	if m.process == nil {
		return
	}
	g := m.ground
	g.saw("crash", uint64(m.index))
	later := g.between(50*time.Millisecond, 20*time.Second)
	if g.rng.IntN(4) == 0 {
		later = g.between(20*time.Second, 2*time.Minute)
	}
	m.kill()
	g.after(later, m.launch)
}

// pause suspends the process.
func (m *machine) pause(d time.Duration) {
	if m.process == nil {
		return
	}
	m.ground.saw("pause", uint64(m.index))
	m.suspend(d)
	for _, n := range m.members {
		n.wasPaused = true
	}
}

// part cuts a machine off from all others and from the servers.
func (m *machine) part(d time.Duration) {
	m.ground.saw("parted", uint64(m.index))
	m.linked, m.muted, m.island = false, m.ground.rng.IntN(2) == 0, 0
	m.ground.after(d, func() { m.linked, m.muted, m.island = true, false, 0 })
}

// replaceDisk ends the process and starts another one on an empty disk, unless no other machine has all of a shard of which
// this one has a copy.
func (m *machine) replaceDisk() {
	for _, n := range m.members {
		if n.local.kept && !n.world.hasOther(n) {
			return
		}
	}
	m.ground.saw("disk replaced", uint64(m.index))
	m.kill()
	m.empty()
	m.ground.after(m.ground.between(time.Second, 30*time.Second), m.launch)
}

// empty removes all data.
func (m *machine) empty() {
	for _, n := range m.members {
		n.local.wipe()
	}
}

// hasOther reports whether another node that lives has a whole copy of the shard.
func (w *world) hasOther(than *simNode) bool {
	for _, n := range w.nodes {
		if n != than && n.alive && n.isWhole() {
			return true
		}
	}
	return false
}

// operate is a request of an operator: mostly at a bad moment, because nothing waits for a good one.
func (g *ground) operate() {
	node, shard := g.machines[g.rng.IntN(len(g.machines))], uint32(g.rng.IntN(len(g.worlds)))
	switch g.rng.IntN(8) {
	case 0, 1:
		g.askPlaces(PlaceRequest{Verb: PlaceDrain, Node: node.name})
	case 2:
		g.askPlaces(PlaceRequest{Verb: PlaceKeep, Node: node.name})
	case 3:
		g.askPlaces(PlaceRequest{Verb: PlaceRemove, Node: node.name})
	case 4:
		data, _ := json.Marshal(handoverRequest{To: &node.name})
		if g.rng.IntN(2) == 0 {
			data = nil
		}
		g.saw("an operator asks for a hand-over")
		g.machines[g.rng.IntN(len(g.machines))].askHandover(shard, data)
	default:
		g.askPlaces(PlaceRequest{Verb: PlaceMove, Shard: shard, To: node.name})
		if g.rng.IntN(2) == 0 { // and another operator for another node, a moment later
			other := g.machines[g.rng.IntN(len(g.machines))]
			g.after(g.between(0, 200*time.Millisecond), func() { g.askPlaces(PlaceRequest{Verb: PlaceMove, Shard: shard, To: other.name}) })
		}
	}
}

// audit takes the time that the audit log needs for an entry of a request about the places: that of a commit, or more.
func (m *machine) audit(_ context.Context, op Operation) error {
	if g := m.ground; op.Action != job.ActionHandOver {
		most := 100 * time.Millisecond
		if g.rng.IntN(4) == 0 {
			most = callTimeout
		}
		g.sleep(g.between(time.Millisecond, most))
	}
	return nil
}

// askPlaces carries a request about the places to all processes. Those that drive carry it out.
func (g *ground) askPlaces(q PlaceRequest) {
	for _, m := range g.machines {
		p := m.process
		if p == nil || !p.listens || !m.linked || g.chance(g.plan.asks.requestLost) {
			continue
		}
		g.after(g.way(g.plan.asks), func() {
			p.later(func() {
				if p.host.drives() {
					p.run(func() { p.carryOut(&q) })
				}
			})
		})
	}
}

// carryOut is a round of [Host.answerPlaces].
func (p *process) carryOut(q *PlaceRequest) {
	g := p.ground
	o := g.keys.overseer
	o.asked[g.task] = q
	defer delete(o.asked, g.task)
	p.stepped = g.now
	_, err := p.host.place(context.Background(), q, "")
	if err != nil {
		g.counts["refused: "+q.Verb]++
		return
	}
	g.saw("operator: " + q.Verb)
	if q.Verb != PlaceRemove {
		return
	}
	if p.gone[q.Node] = true; g.rng.IntN(2) == 0 { // what was removed does not come back, with its data at least
		gone := g.machines[q.Node[0]-'a']
		g.saw("removed for good", uint64(gone.index))
		gone.kill()
		gone.empty()
	}
}
