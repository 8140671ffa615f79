package replication

import (
	"slices"
	"strings"
	"time"
)

// overseer checks what must hold over all shards: of the leases of the nodes, and of the places. A nil one checks nothing.
type overseer struct {
	*ground
	asked   map[*task]*PlaceRequest // requests of operators that are carried out
	ended   map[string]endOfEpoch   // by the process
	away    *machine                // the only one that still has faults
	lacking string                  // what is not as it must be in the end
	looked  time.Duration
}

// endOfEpoch is the end of the newest epoch of a process that another one has ended.
type endOfEpoch struct {
	epoch uint64
	at    time.Duration
}

func newOverseer(g *ground) *overseer {
	return &overseer{ground: g, asked: make(map[*task]*PlaceRequest), ended: make(map[string]endOfEpoch)}
}

// slack is how old what a decision goes by may be when it is made: a beat may be as old, and another one lost.
const slack = beatFresh + 2*beatEvery

// since returns the instant from which on the state of the world counts for what a process decides now.
func (p *process) since() time.Duration { return p.stepped - slack }

// diedFor returns when a machine died, as far as this process can know: not before its last beat has arrived, which may be late.
func (p *process) diedFor(m *machine) time.Duration { return max(m.died, p.heard[m.name]) }

// isWhole reports whether the disk has a copy to which the stream adds what it lacks. The newest commits of a leader may not be
// part of the log yet.
func (n *simNode) isWhole() bool {
	if !n.local.kept {
		return false
	}
	first := n.world.stream.firstAfter()
	for lsn := n.local.Last().LSN; lsn >= max(first, 1); lsn-- {
		if at, ok := n.local.Find(lsn); ok && n.world.check.has(at) {
			return true
		}
	}
	return first == 0
}

// firstAfter returns the LSN of the commit that a node must have to follow the stream.
func (s *simStream) firstAfter() uint64 {
	for _, m := range s.messages {
		if f, err := decodeFrame(m.data); err == nil && s.check.has(f.At) {
			return f.At.LSN - 1
		}
	}
	return uint64(len(s.check.log))
}

// sees reports whether a node has a whole copy on a machine that is up, or had one later than an instant, as far as this process
// can know.
func (p *process) sees(n *simNode, since time.Duration) bool {
	up := n.process != nil || p.diedFor(n.machine) >= since
	whole := n.isWhole() || n.world.trimmed >= since || n.local.emptied > 0 && max(n.local.emptied, p.heard[n.name]) >= since
	return up && whole
}

// live counts the live copies among some nodes.
func (o *overseer) live(p *process, shard uint32, names []string, since time.Duration) (count int) {
	for _, name := range names {
		if p.sees(o.worlds[shard].nodes[name[0]-'a'], since) {
			count++
		}
	}
	return count
}

// decides is called with each write of a key, when it is decided.
func (o *overseer) decides(m *machine, key string, value []byte) {
	switch {
	case o == nil:
	case strings.HasPrefix(key, placeKeys):
		o.places(m, value)
	case strings.HasPrefix(key, shardKeys):
		o.passes(m, value)
	}
}

// passes checks that a shard is handed over only to a node that could take it, as far as the one that hands over can know: it
// has asked a moment ago, and waited for a commit and its launches since.
func (o *overseer) passes(m *machine, value []byte) {
	v, err := decodeLease(value)
	if err != nil || !v.Released || v.To == "" {
		return
	}
	to := o.worlds[v.Shard].nodes[v.To[0]-'a']
	if to.unfit != 0 && to.unfit < o.now-slack-2*time.Second {
		o.fail("successor", "%s hands shard %d over to %s, which could not take it since %s", m.name, v.Shard, v.To, to.unfit)
	}
}

// places checks a write of a place.
func (o *overseer) places(m *machine, value []byte) {
	next, err := decodePlace(value)
	if err != nil {
		panic(err)
	}
	p := m.process
	if next.Shard == everywhere || len(next.Copies) == 0 {
		o.fail("place", "%s writes a place that there is not: %s", p.name, value)
	}
	old := p.host.places.of(next.Shard).value
	switch q := o.asked[o.task]; {
	case q != nil && q.Verb == PlaceRemove, old.Change == 0:
	case next.Joins != "" && next.Joins != old.Joins:
		o.begins(p, &old, &next, q != nil)
	case old.Joins != "" && slices.Contains(next.Copies, old.Joins) && o.live(p, next.Shard, []string{old.Joins}, p.since()) == 0:
		o.fail("copies", "%s counts %s as a copy of shard %d, and that has none", p.name, old.Joins, next.Shard)
	case next.Joins != "" || len(next.Copies) > len(old.Copies):
	default:
		o.counts["copies go"]++
		o.copiesGo(p, &old, &next)
	}
}

// copiesGo checks a decision by which a copy may go: as many live ones as there are to be remain, or as there were places for.
func (o *overseer) copiesGo(p *process, old, next *placeValue) {
	there := old.Copies
	if old.Joins != "" {
		there = append(slices.Clone(there), old.Joins)
	}
	before, after := o.live(p, next.Shard, there, o.now), o.live(p, next.Shard, next.Copies, p.since())
	if after < min(before, o.plan.copies, len(old.Copies)) {
		o.fail("copies", "%s lets shard %d have the copies %v, of which %d are live; it had %v, of which %d are", p.name, next.Shard, next.Copies, after, there, before)
	}
}

// begins checks a decision by which a move begins.
func (o *overseer) begins(p *process, old, next *placeValue, asked bool) {
	o.counts["moves begin"]++
	switch {
	case old.Joins != "":
		o.fail("over", "%s lets a copy of shard %d come to %s, while it moves to %s", p.name, next.Shard, next.Joins, old.Joins)
	case slices.Contains(next.Copies, next.Joins), next.Leaves != "" && !slices.Contains(next.Copies, next.Leaves):
		o.fail("over", "%s begins a move of shard %d by what is not so: %+v", p.name, next.Shard, next)
	}
	in, out := 0, 0
	for _, w := range o.worlds {
		v := p.host.places.of(w.number).value
		if w.number == next.Shard {
			v = *next
		}
		if v.Joins == next.Joins {
			in++
		}
		if next.Leaves != "" && v.Leaves == next.Leaves {
			out++
		}
	}
	if in > 1 || out > 1 {
		o.fail("flow", "%s lets %d copies come to %s and %d go from %s", p.name, in, next.Joins, out, next.Leaves)
	}
	if p.host.places.draining(next.Joins).value.Drains {
		o.fail("drain", "%s lets a copy of shard %d come to %s, which drains", p.name, next.Shard, next.Joins)
	}
	if next.Leaves == "" || asked || p.host.places.draining(next.Leaves).value.Drains {
		return
	}
	for _, w := range o.worlds[1:] {
		for _, name := range p.host.places.of(w.number).value.Copies {
			if at := o.machines[name[0]-'a']; at.process == nil && p.diedFor(at) < p.since() {
				o.fail("calm", "%s moves a copy of shard %d for balance, and %s is dead since %s", p.name, next.Shard, name, at.died)
			}
		}
	}
}

// spreads is called when a driver asks for a hand-over.
func (o *overseer) spreads(p *process, shard uint32) {
	o.saw("spreads a leadership", uint64(p.index), uint64(shard))
	for name, at := range p.heard {
		if m := o.machines[name[0]-'a']; m.process == nil && !m.orderly && !p.gone[name] && p.diedFor(m) < p.since() && p.stepped-at < beatKept-slack {
			o.fail("calm", "%s spreads leaderships, and %s is dead since %s", p.name, name, m.died)
		}
	}
}

// stored is called with each write of a key that is carried out.
func (o *overseer) stored(m *machine, before keyState, value []byte) {
	switch {
	case o == nil || before.revision == 0:
	case strings.HasPrefix(before.key, nodeKeys):
		old, _ := decodeNode(before.value)
		next, _ := decodeNode(value)
		if next.Process != "" && old.hasEnded(next.Process, next.Epoch) {
			o.fail("ended", "%s renews epoch %d of %s, which was ended: %+v", m.name, next.Epoch, next.Process, old)
		}
		if next.Process == "" {
			o.saw("epoch ended")
			o.ended[next.Ended] = endOfEpoch{next.Epoch, o.now}
		}
	case strings.HasPrefix(before.key, placeKeys):
		old, err := decodePlace(before.value)
		next, _ := decodePlace(value)
		o.flows()
		if err == nil && next.Change <= old.Change {
			o.fail("place", "%s writes change %d of the place of shard %d over change %d", m.name, next.Change, next.Shard, old.Change)
		}
	}
}

// flows counts how often more than one copy comes to a node at a time. A driver that does not learn that a move was written
// begins another one, so it happens.
func (o *overseer) flows() {
	in := make(map[string]int)
	for _, w := range o.worlds {
		at := o.keys.asOfKey(keyOfPlace(w.number), o.now)
		if v, err := decodePlace(at.value); at.revision != 0 && err == nil && v.Joins != "" {
			if in[v.Joins]++; in[v.Joins] > 1 {
				o.saw("two copies come at a time")
			}
		}
	}
}

// taken is called with each node that takes a shard. Unless the former holder has given it up, that one's epoch must have
// ended before.
func (o *overseer) taken(n *simNode, from *leaseValue) {
	if o == nil || from.Node == "" || from.Released || from.Node == n.name {
		return
	}
	v, err := decodeNode(o.keys.asOfKey(keyOfNode(from.Node), o.now).value)
	if err == nil && !v.hasEnded(from.Process, from.Epoch) {
		o.fail("ended", "%s takes shard %d of %s, whose epoch %d goes on: %+v", n.name, n.world.number, from.Process, from.Epoch, v)
	}
}

// trusts is called with each node that may launch. A lease after the end of its epoch, none may.
func (o *overseer) trusts(n *simNode) {
	if o == nil {
		return
	}
	if e := o.ended[n.node.opts.Process]; n.node.leadership.value.Epoch < e.epoch && o.now-e.at > n.node.opts.Lease {
		o.fail("ended", "%s may launch in shard %d by an epoch that was ended at %s", n.name, n.world.number, e.at)
	}
}

// drops is called with each node that removes its data, because others hold the shard as far as it knows.
func (o *overseer) drops(n *simNode) {
	v := n.process.host.places.of(n.world.number).value
	eligible := 0
	for _, m := range o.machines {
		if !o.drains(m.name) {
			eligible++
		}
	}
	if len(v.Copies) < min(o.plan.copies, eligible) {
		o.fail("copies", "%s drops its copy of shard %d, which has %v only", n.name, n.world.number, v.Copies)
	}
	whole := slices.ContainsFunc(v.Copies, func(name string) bool {
		other := n.world.nodes[name[0]-'a']
		return other != n && other.isWhole()
	})
	if !whole {
		o.fail("copies", "%s drops its copy of shard %d, and none of %v is whole", n.name, n.world.number, v.Copies)
	}
}
