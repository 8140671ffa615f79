package replication

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-io/carillon/job"
)

// What package server does with the shards of a process, and package shard with one that ends.

const (
	// placeLook is the time between two looks at whether a place has changed, placeAgain that between two looks at what is to
	// be here if none has.
	placeLook, placeAgain = 50 * time.Millisecond, time.Second
	// dropTimeMax bounds the end of a shard that goes.
	dropTimeMax = 10 * time.Second
)

// adopt joins a node to the process, as [NewNode] and [Host.enter] do.
func (p *process) adopt(n *simNode, node *Node) {
	node.host, node.register = p.host, (&memberLease{p.host.lease, n.world.number}).of(node)
	node.newReaders = make(chan struct{}, 1)
	p.host.members[n.world.number] = &hosted{Node: node, end: func(error) {}}
}

// open opens a shard.
func (p *process) open(shard uint32) {
	n := p.members[shard]
	if n.alive {
		return
	}
	n.local.kept = true
	n.begin()
}

// place is a round of keepPlaces of package server.
func (p *process) place() {
	select {
	case <-p.host.places.news:
	default:
		if p.ground.now-p.placed < placeAgain {
			return
		}
	}
	if p.placed = p.ground.now; p.ends {
		return
	}
	wanted := make(map[uint32]bool)
	for _, shard := range p.host.Wanted() {
		if wanted[shard] = true; !p.members[shard].alive {
			p.ground.sleep(p.ground.between(time.Millisecond, 300*time.Millisecond))
			p.ground.saw("opens a shard", uint64(p.index), uint64(shard))
			p.open(shard)
		}
	}
	for i, n := range p.members {
		if shard := uint32(i); n.alive && !wanted[shard] && p.host.MayDrop(shard) {
			p.drop(n)
		}
	}
}

// drop ends a shard that other nodes hold, and removes its data.
func (p *process) drop(n *simNode) {
	p.ground.saw("drops a shard", uint64(p.index), uint64(n.world.number))
	p.ground.keys.overseer.drops(n)
	p.close(n, dropTimeMax)
	n.local.wipe()
}

// close ends a member in order, and says so to the others. It does not wait longer than most.
func (p *process) close(n *simNode, most time.Duration) {
	n.ends = true
	for begun := p.ground.now; n.alive && !n.main.over && p.ground.now-begun < most; {
		p.ground.sleep(10 * time.Millisecond)
	}
	n.die()
	delete(p.host.members, n.world.number)
	for _, other := range p.ground.machines {
		if o := other.process; other != p.machine && o != nil && o.listens && p.meets(other) && p.ground.wayTo(n, other.members[n.world.number]) == open {
			o.leftBy(n)
		}
	}
}

// leftBy notes that a member of another process has ended.
func (p *process) leftBy(n *simNode) {
	if own := p.members[n.world.number]; own.alive {
		own.node.peers.leaves(n.name, leaving{})
		p.host.left(n.name, n.world.number, leaving{})
		p.gone[n.name] = true
	}
}

// end ends the process in order, and starts another one later; a negative time: never.
func (m *machine) end(later time.Duration) {
	p := m.process
	if p == nil || p.ends {
		return
	}
	p.ends = true
	m.ground.saw("ends in order", uint64(m.index))
	m.run(func() {
		for _, n := range m.members {
			n.ends = n.ends || n.alive
		}
		for _, n := range m.members {
			if n.alive {
				p.close(n, 2*resignTime)
			}
		}
		m.kill()
		m.orderly = true
		if later >= 0 {
			m.ground.after(later, m.launch)
		}
	})
}

// passesOn hands the shard over if the leader is to end, or was asked to. It reports whether this node leads no more.
func (n *simNode) passesOn(ctx context.Context) (over bool) {
	if n.process == nil {
		return false
	}
	ended := make(chan error, 1)
	ended <- nil
	s := &service{stop: func() { n.launches = false }, ended: ended}
	select {
	case h := <-n.node.wanted.waiting:
		over, _ = n.node.handOver(ctx, s, h)
	default:
		if !n.ends {
			return false
		}
		if n.resigns == nil {
			n.resigns = s
			s.resigns = n.boot()
		}
		over, _ = n.node.resign(ctx, n.resigns)
	}
	if over {
		n.world.saw("passes on", uint64(n.index), uint64(n.world.number))
	}
	if over = over || ctx.Err() != nil; over {
		n.resigns = nil
	}
	return over
}

// errSlow says that a commit of a leader took longer than a hand-over waits.
var errSlow = errors.New("simulation: the stream is slow")

// Confirm implements Local.
func (l *simLocal) Confirm(ctx context.Context) error {
	if l.process == nil {
		return nil
	}
	g := l.world.ground
	if l.world.stream.offTill > g.now || !l.linked {
		g.sleep(promptTime)
		return errSlow
	}
	begun := g.now
	if err := l.commit(ctx, nil); err != nil {
		l.node.leadership.end() // as the engine, which ends
		return err
	}
	if g.now-begun > promptTime {
		return errSlow
	}
	return nil
}

// Hold implements Local.
func (l *simLocal) Hold(context.Context) { l.launches = l.launches && l.process == nil }

// Continue implements Local.
func (l *simLocal) Continue() error {
	l.launches = l.launches || l.process != nil
	return nil
}

// wipe removes the data.
func (l *simLocal) wipe() {
	l.log, l.applied, l.durable, l.known, l.notes, l.kept = &memLog{}, job.Position{}, job.Position{}, Known{}, noted{}, false
	l.emptied = l.world.now
}
