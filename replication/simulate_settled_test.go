package replication

import (
	"fmt"
	"slices"
	"time"
)

// What the overseer requires in the end.

// healed ends all faults but those of one machine, which is away.
func (o *overseer) healed(away *machine) {
	o.note("healed", uint64(away.index))
	o.ground.healed, o.away = true, away
	o.bucket.offTill = 0
	clear(o.links)
	for _, w := range o.worlds {
		w.stream.offTill, w.check.settled = 0, o.now
		for _, n := range w.nodes {
			n.slow = 0
		}
	}
	for _, m := range o.machines {
		m.wakeNow()
		m.lag, m.linked, m.muted, m.island = 0, true, false, 0
		if m.process != nil && m.process.ends {
			m.kill() // it is about to
		}
		if m != away {
			o.after(time.Second, m.launch)
		}
	}
	away.kill()
	away.barred = true
}

// lacks notes what is not as it must be, and returns false.
func (o *overseer) lacks(format string, args ...any) bool {
	o.lacking = fmt.Sprintf(format, args...)
	return false
}

// rests reports whether it is too early to look again.
func (o *overseer) rests() bool {
	if o.now < o.looked+100*time.Millisecond {
		return true
	}
	o.looked = o.now
	return false
}

// led reports whether each shard has a leader that commits, if a machine that is there has all of it.
func (o *overseer) led() bool {
	if o.rests() {
		return false
	}
	for _, w := range o.worlds {
		has := slices.ContainsFunc(w.nodes, func(n *simNode) bool { return n.machine != o.away && n.isWhole() })
		if has && (w.check.leader() == nil || w.check.since < 5) {
			return o.lacks("shard %d has no leader that commits: %s", w.number, w.describe())
		}
	}
	return true
}

// settled reports whether all is as it must be in the end.
func (o *overseer) settled() bool {
	if o.rests() {
		return false
	}
	eligible := 0
	for _, m := range o.machines {
		if m.process == nil {
			m.launch()
			return o.lacks("%s is not there", m.name)
		}
		if !o.drains(m.name) {
			eligible++
		}
	}
	for _, w := range o.worlds {
		v := placeValue{}
		if w.number == everywhere {
			for _, m := range o.machines {
				v.Copies = append(v.Copies, m.name)
			}
		} else if at := o.keys.asOfKey(keyOfPlace(w.number), o.now); at.revision != 0 {
			v, _ = decodePlace(at.value)
		}
		if !o.isPlaced(w, &v, eligible) {
			return false
		}
	}
	o.counts["settled"]++
	return true
}

func (o *overseer) drains(node string) bool {
	at := o.keys.asOfKey(drainKeys+node, o.now)
	v, err := decodeDrain(at.value)
	return at.revision != 0 && err == nil && v.Drains
}

// isPlaced reports whether a shard has its copies, and a leader that all of them follow. A node that drains has none, if the
// others can have them all.
func (o *overseer) isPlaced(w *world, v *placeValue, eligible int) bool {
	number, want := w.number, min(o.plan.copies, eligible)
	if number != everywhere && (v.Joins != "" || v.Leaves != "" || len(v.Copies) < want || eligible >= o.plan.copies && len(v.Copies) != want) {
		return o.lacks("shard %d has the place %+v, want %d copies", number, *v, want)
	}
	leader := w.check.leader()
	if leader == nil || w.check.since < 5 {
		return o.lacks("shard %d has no leader that commits: %s", number, w.describe())
	}
	for _, n := range w.nodes {
		switch listed := slices.Contains(v.Copies, n.name); {
		case listed && number != everywhere && eligible >= o.plan.copies && o.drains(n.name):
			return o.lacks("shard %d is on %s, which drains", number, n.name)
		case n.alive != listed:
			return o.lacks("%s has shard %d open: %t; its place is %+v: %s", n.name, number, n.alive, *v, w.describe())
		case listed && !n.isLevel(leader):
			return o.lacks("%s is not level in shard %d: %s", n.name, number, w.describe())
		}
	}
	if eligible > 0 && o.drains(leader.name) {
		return o.lacks("%s leads shard %d, and drains", leader.name, number)
	}
	return true
}

// isLevel reports whether a node has what a leader has, but for the newest commits.
func (n *simNode) isLevel(leader *simNode) bool {
	at, ok := leader.local.Find(n.local.applied.LSN)
	return n.alive && n.node.role != RoleJoining && n.local.applied.LSN+20 >= leader.local.applied.LSN && ok && at == n.local.applied
}
