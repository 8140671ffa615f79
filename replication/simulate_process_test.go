package replication

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// process is what lives on a machine of a cluster of which all shards are simulated: a [Host], so what that decides is the
// product's. The loops that join its parts are written again here, with one wait after the other, and so is what package
// server does with the shards that are placed on the process.
type process struct {
	*machine
	host    *Host
	driver  *driver
	listens bool          // others reach it
	ends    bool          // it is to end in order
	stepped time.Duration // when the driver began its present step
	placed  time.Duration // when it looked last at what it is to hold
	heard   map[string]time.Duration
	gone    map[string]bool // nodes that have said that they end, and those that were removed
}

// newProcess returns a process of a machine.
func newProcess(m *machine) *process {
	g := m.ground
	h := NewHost(nil)
	h.opts = Options{
		Node: m.name, Process: fmt.Sprintf("%s%06d", m.name, m.life), Cluster: "sim", ID: testCluster, Next: testNext, Boot: m.boot, Logger: quiet, rows: 5,
		Shards: len(g.worlds), Copies: g.plan.copies, Weight: m.weight, Zone: m.zone, Host: h, Audit: m.audit,
		Synced: func() bool { return g.plan.syncs },
	}.withDefaults()
	h.id, h.began = testCluster, m.boot()
	h.keys, h.ties = keysOfNode{g.keys, m}, tiesOfNode{m}
	h.places = newPlaces(testCluster.String(), h.opts.Shards)
	h.lease = newHostLease(&h.opts, testCluster, h.keys, h.places, func(string, error) {})
	h.lease.renewing = &simLock{ground: g}
	return &process{machine: m, host: h, driver: newDriver(h), heard: make(map[string]time.Duration), gone: make(map[string]bool)}
}

// simLock is a lock that is waited for in virtual time. As with a sync.Mutex that has been waited for, nobody who comes later
// gets it earlier.
type simLock struct {
	*ground
	held    bool
	waiting []*task // in the order in which they came
}

// Lock implements sync.Locker.
func (l *simLock) Lock() {
	own := l.task
	l.waiting = append(l.waiting, own)
	defer func() { // also if the task is killed while it waits
		l.waiting = slices.DeleteFunc(l.waiting, func(t *task) bool { return t == own })
	}()
	for l.held || l.waiting[0] != own {
		l.sleep(time.Millisecond)
	}
	l.held = true
}

// Unlock implements sync.Locker.
func (l *simLock) Unlock() { l.held = false }

// launch starts a process.
func (m *machine) launch() {
	if m.process != nil || m.barred {
		return
	}
	m.life++
	m.wakeNow()
	m.process = newProcess(m)
	m.lease = m.process.host.lease
	m.ground.note("launch", uint64(m.index))
	m.run(m.process.live)
}

// run starts a thread of the process.
func (m *machine) run(do func()) {
	m.tasks = slices.DeleteFunc(m.tasks, func(t *task) bool { return t.over })
	m.tasks = append(m.tasks, m.ground.spawn(m, &m.life, do))
}

// kill ends the process at whatever it does.
func (m *machine) kill() {
	if m.process == nil {
		return
	}
	for _, n := range m.members {
		n.die()
	}
	m.life++
	m.process, m.lease, m.first, m.died, m.orderly = nil, nil, nil, m.ground.now, false
	for _, t := range m.tasks {
		if t != m.ground.task {
			t.stop()
		}
	}
	m.tasks = nil
}

// live is the life of a process: it learns what it is to hold, as claimShards of package server, and begins.
func (p *process) live() {
	ctx := context.Background()
	wanted, err := p.host.Claim(ctx, p.has())
	for ; err != nil; wanted, err = p.host.Claim(ctx, p.has()) {
		p.ground.sleep(500 * time.Millisecond)
	}
	p.fed, p.first, p.shown = len(p.ground.keys.log), p.ground.keys.newest(), 0
	p.host.began, p.listens = p.boot(), true
	for _, n := range wanted {
		p.open(n)
	}
	p.every(dueEvery, p.feed)
	p.run(func() {
		for l := newRenewals(p.machine); ; {
			l.wait(func() bool { return false })
			l.renewed(p.renew(ctx))
		}
	})
	p.every(askEvery, func() { p.ask(ctx) })
	p.every(beatEvery, p.beat)
	p.every(p.host.opts.PlaceEvery, func() {
		p.stepped = p.ground.now
		p.driver.tick(ctx)
	})
	p.every(reviewEvery, func() { _ = p.host.review(ctx) })
	p.every(placeLook, p.place)
}

// every starts a thread that does something from time to time.
func (p *process) every(d time.Duration, do func()) {
	p.run(func() {
		for {
			p.ground.sleep(d)
			do()
		}
	})
}

// has returns the shards of which the disk has data.
func (m *machine) has() (shards []uint32) {
	for i, n := range m.members {
		if n.local.kept {
			shards = append(shards, uint32(i))
		}
	}
	return shards
}

// feed lets the ledger and the places see what has reached the watch of the bucket.
func (p *process) feed() {
	for p.nextKey() {
	}
}

// renew is [hostLease.renewDue], and checks the leaderships that it ends.
func (p *process) renew(ctx context.Context) error {
	led := p.host.lease.leading()
	ends := make([]time.Duration, len(led))
	for i, n := range led {
		ends[i] = p.boot() + n.leadership.left(p.boot())
	}
	err := p.host.lease.renewDue(ctx)
	for i, n := range led {
		if m := p.members[n.opts.Shard]; n.leadership.ctx.Err() != nil && m.node == n && m.launches {
			m.deposedAt(ends[i])
		}
	}
	return err
}

// renews is [hostLease.lead].
func (p *process) renews(n *Node) (end func()) {
	p.host.lease.add(n)
	return func() { p.host.lease.remove(n) }
}

// ask is a round of [Host.askAll].
func (p *process) ask(ctx context.Context) {
	groups := p.host.toAsk()
	for _, holder := range slices.Sorted(maps.Keys(groups)) {
		p.run(func() {
			if p.host.askGroup(ctx, holder, groups[holder]) {
				p.ask(ctx)
			}
		})
	}
}

// beat is a round of [Host.beatAll].
func (p *process) beat() {
	for _, n := range p.members {
		if n.alive {
			n.node.keepKnownOnce()
		}
	}
	p.host.beatOnce()
}
