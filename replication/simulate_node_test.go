package replication

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// simNode is a machine with a disk on which a process lives now and then. The process is a [Node]: what
// decides is the product's. Only the loops that join its parts, which wait for several things at a time,
// are told again here, with one wait after the other.
type simNode struct {
	world *world
	index int
	name  string
	local *simLocal

	rate   float64 // of its clock
	origin time.Duration

	life        int // counts the processes
	alive       bool
	linked      bool // to the servers
	lag         time.Duration
	watchDelay  time.Duration
	pausedUntil time.Duration
	wasPaused   bool // since the last commit

	node         *Node
	main, helper *task
	next         uint64 // sequence that the consumer delivers next
	watched      leaseState
	asked        time.Duration
	reason       string // for which it takes the lease
	reigns       bool
	launches     bool // it may, if it trusts the lease
	operations   int
}

func newSimNode(w *world, index int) *simNode {
	n := &simNode{
		world: w, index: index, name: string(rune('a' + index)), linked: true,
		rate: 1 + (w.rng.Float64()*2-1)*500e-6, origin: w.between(time.Second, 1000*time.Hour),
		watchDelay: w.between(time.Millisecond, 50*time.Millisecond),
	}
	n.local = &simLocal{simNode: n, log: &memLog{}}
	return n
}

// boot is the clock of the machine.
func (n *simNode) boot() time.Duration {
	return n.origin + time.Duration(float64(n.world.now)*n.rate)
}

// start begins a process, once there is a stream to begin with.
func (n *simNode) start() {
	if n.alive {
		return
	}
	if n.world.stream.gone {
		n.world.after(time.Second, n.start)
		return
	}
	n.life++
	n.alive, n.reigns, n.pausedUntil = true, false, 0
	n.local.restart()
	n.watched = leaseState{}
	n.node = n.newNode()
	n.world.note("start", uint64(n.index), n.local.log.Last().LSN, n.local.applied.LSN)
	n.main = n.world.spawn(n, func() {
		for {
			n.reason = n.follow()
			n.lead()
		}
	})
}

var quiet = slog.New(slog.DiscardHandler)

func (n *simNode) newNode() *Node {
	opts := Options{Node: n.name, Cluster: "sim", Next: testNext, Boot: n.boot, Logger: quiet}.withDefaults()
	node := &Node{
		opts: opts, local: n.local, id: testCluster, author: authorOf(n.name), peers: newPeers(), role: RoleStandby,
		bucket: registerOfNode{n.world.lease, n}, warned: make(map[string]time.Time), trimmer: newTrimmer(opts.StreamBytesMin),
		rival: rival{node: n.name, lease: opts.Lease, grace: opts.Grace, swift: true, cautious: n.local.Last().LSN > 0, seen: n.boot()},
	}
	node.writer = writer{
		cursor: cursor{tail: tail{cluster: testCluster, next: testNext}, stream: streamOfNode{n.world.stream, n}, own: n.local},
		log:    n.local, frame: node.ownFrame,
		restore: func(ctx context.Context) error {
			node.trimmer.reset()
			return errors.Join(n.world.request(n, n.world.plan.reads, func() error { n.world.stream.restore(); return nil }), ctx.Err())
		},
	}
	return node
}

// die ends the process, wherever it is.
func (n *simNode) die() {
	if !n.alive {
		return
	}
	n.alive, n.reigns, n.launches = false, false, false
	n.life++
	n.main.stop()
	if n.helper != nil {
		n.helper.stop()
	}
	n.node.trusted.Store(0)
}

// crash ends the process, and begins another one later.
func (n *simNode) crash(d time.Duration) {
	if n.alive {
		n.world.saw("crash", uint64(n.index))
		n.die()
		n.world.after(d, n.start)
	}
}

// pause stops the process as it is.
func (n *simNode) pause(d time.Duration) {
	if n.alive {
		n.world.saw("pause", uint64(n.index))
		n.pausedUntil, n.wasPaused = n.world.now+d, true
		n.world.at(n.pausedUntil, func() {
			n.relink()
		})
	}
}

// link joins the machine to the servers, or parts it from them.
func (n *simNode) link(linked bool) {
	n.linked = linked
	n.relink()
}

// relink is what the product's watchLink does.
func (n *simNode) relink() {
	if !n.alive || !n.reigns || n.pausedUntil > n.world.now {
		return
	}
	r := &n.node.reign
	if !r.mu.TryLock() {
		n.world.after(linkEvery, n.relink)
		return
	}
	defer r.mu.Unlock()
	r.tenure.link(n.boot(), n.linked)
	n.node.trusted.Store(int64(r.tenure.until()))
}

// lookEach is how often the simulated process looks at its way to the others: less often than a real one,
// to have fewer events.
const lookEach = 100 * time.Millisecond

// watchLink looks at the way to the others as long as a reign lasts.
func (n *simNode) watchLink(reign context.Context) {
	if reign.Err() != nil || !n.alive {
		return
	}
	n.relink()
	n.world.after(lookEach, func() { n.watchLink(reign) })
}

// busy tells whether a task has to wait for a lock that the other one holds while it waits.
func (n *simNode) busy(t *task) bool {
	if t != n.helper {
		return false
	}
	if !n.node.reign.mu.TryLock() {
		return true
	}
	n.node.reign.mu.Unlock()
	return false
}

// beat tells the others of this node.
func (n *simNode) beat() {
	n.world.after(beatEvery, n.beat)
	if !n.alive || !n.linked || n.pausedUntil > n.world.now {
		return
	}
	last := n.local.Last()
	for _, other := range n.world.nodes {
		if other.alive && other.linked {
			other.node.peers.heard(beat{
				Version: beatVersion, Node: n.name, Role: n.node.role, Epoch: last.Epoch, LSN: last.LSN, Applied: n.local.applied.LSN,
			}, other.boot())
		}
	}
}
