package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// simNode is a machine with a disk on which a process lives from time to time. The process is a [Node], so the
// decisions are the product's. Only the loops that join its parts, which wait for several things at a time, are
// written again here, with one wait after the other.
type simNode struct {
	*machine
	world *world
	local *simLocal

	life        int // number of processes so far
	alive       bool
	slow        time.Duration // how long each read of a message takes, beside the consumer
	silentUntil time.Duration // until then its consumer delivers nothing
	wasPaused   bool          // was paused since the last commit

	node         *Node
	main, helper *task
	endRenewals  func() // what waits for the end of the renewals; nil: there are none
	next         uint64 // sequence that the consumer delivers next
	messages     chan message
	watched      leaseState
	asker        asker
	asked        uint64 // number of questions to the holder
	asking       bool
	hosted       *hosted
	looks        time.Duration // when the loop of the follower looks again by itself, on the clock of the machine
	reason       string        // reason for which it takes the lease
	leading      bool
	launches     bool          // it may launch, if it trusts its lease
	ends         bool          // it is to end in order
	unfit        time.Duration // since when it could not lead; 0: it could
	resigns      *service
	recreates    bool // an operator has started it with --recreate-stream
	operations   int
	rejoined     int // number of times that it has joined anew
	reads        int // number of messages that it has read beside the consumer, which takes time if slow is set
	installed
}

func newSimNode(w *world, m *machine) *simNode {
	n := &simNode{machine: m, world: w}
	n.local = &simLocal{simNode: n, log: &memLog{}}
	m.members = append(m.members, n)
	return n
}

// start starts a process, once there is a stream.
func (n *simNode) start() {
	if n.alive {
		return
	}
	if n.world.stream.gone {
		n.world.after(time.Second, n.start)
		return
	}
	n.wakeNow()
	n.begin()
}

// begin begins a life of the node: that of a process, or of a member in one.
func (n *simNode) begin() {
	n.life++
	n.alive, n.leading, n.ends, n.resigns = true, false, false, nil
	n.unfit = n.world.now
	n.local.restart()
	n.install()
	n.watched, n.asker, n.asking = leaseState{}, asker{}, false
	n.node = n.newNode()
	n.hosted = &hosted{Node: n.node}
	n.world.note("start", uint64(n.index), n.local.log.Last().LSN, n.local.applied.LSN)
	n.main = n.world.spawn(n.machine, &n.life, func() {
		for !n.ends {
			if n.follow() != "" {
				n.lead()
			}
		}
	})
}

var quiet = slog.New(slog.DiscardHandler)

func (n *simNode) newNode() *Node {
	opts := Options{Node: n.name, Process: fmt.Sprintf("%s%06d", n.name, n.life), Cluster: "sim", Next: testNext, Boot: n.boot, Logger: quiet, rows: n.rows, Synced: n.world.syncs}.withDefaults()
	if n.process != nil {
		opts = n.process.host.opts
		opts.Shard = n.world.number
	}
	node := &Node{
		opts: opts, local: n.local, id: testCluster, author: authorOf(n.name), peers: newPeers(n.name), role: roleAtFirst(opts.Shards),
		register: registerOfNode{n.world.lease, n}, trimmer: newTrimmer(opts.StreamBytesMin), lease: make(chan leaseSeen, 16), answers: make(chan answer, 4),
		challenger: challenger{node: n.name, process: opts.Process, lease: opts.Lease, grace: opts.Grace, takesEarly: true, promises: newPromises(opts), cautious: n.local.Last().LSN > 0, seen: n.boot()},
	}
	node.writer = writer{
		cursor: cursor{tail: tail{cluster: testCluster, next: testNext}, stream: streamOfNode{n.world.stream, n}, own: n.local, applied: n.local.Applied},
		log:    n.local, frame: node.ownFrame, may: node.mayPublish, stamp: instant.Millis(n.life) << 32,
		restore: func(ctx context.Context) error {
			node.trimmer.reset()
			return errors.Join(n.world.request(n.machine, n.world.plan.reads, func() error { n.world.stream.restore(); return nil }), ctx.Err())
		},
	}
	node.helps, node.together, node.tells = n.helps, n.together, n.tells
	switch {
	case n.process != nil:
		n.process.adopt(n, node)
	case n.world.plan.several:
		node.opts.Shards = 2
		n.lease = n.newHostLease(&node.opts)
		node.register = (&memberLease{n.lease, 0}).of(node)
		node.host = &Host{lease: n.lease}
	}
	node.register = notedClaims{node.register, n}
	node.levelUntil(n.boot() - behindAtFirst)
	node.recreates = n.recreates
	node.first.Store(n.world.stream.first)
	node.await()
	return node
}

// syncs reports whether NATS is known to sync what it acknowledges.
func (w *world) syncs() bool { return w.plan.syncs }

// helps begins the renewals of a leadership.
func (n *simNode) helps(ctx context.Context) { n.endRenewals = n.renewed(ctx) }

// together is [together].
func (n *simNode) together(do func()) (wait func()) {
	t := n.world.spawn(n.machine, &n.life, do)
	return func() {
		for !t.over {
			n.world.sleep(100 * time.Microsecond)
		}
	}
}

// die ends the process at whatever it does.
func (n *simNode) die() {
	if !n.alive {
		return
	}
	n.alive, n.leading, n.launches = false, false, false
	n.unfit = n.world.now
	n.life++
	n.main.stop()
	if n.helper != nil {
		n.helper.stop()
	}
	n.node.trusted.Store(0)
}

// crash ends the process, and starts another one later.
func (n *simNode) crash(d time.Duration) {
	if n.alive {
		n.world.saw("crash", uint64(n.index))
		n.die()
		n.world.after(d, n.start)
	}
}

// pause suspends the process.
func (n *simNode) pause(d time.Duration) {
	if n.alive {
		n.world.saw("pause", uint64(n.index))
		n.wasPaused = true
		n.suspend(d)
	}
}

// slowDown makes each read beside the consumer take a time, mostly longer than the node's checks are apart. The
// consumer is silent for a few seconds, so that the node begins to read directly, and works again then.
func (n *simNode) slowDown(each, during time.Duration) {
	n.world.saw("reads slowly", uint64(n.index))
	n.slow, n.silentUntil = each, n.world.now+n.world.between(time.Second, 4*time.Second)
	n.world.after(during, func() { n.slow = 0 })
}

// beat publishes this node's state to the others.
func (n *simNode) beat() {
	n.world.after(beatEvery, n.beat)
	if !n.alive || n.still() {
		return
	}
	n.node.keepKnownOnce()
	b := n.node.newBeat()
	n.node.repeatDurable()
	for _, other := range n.world.nodes {
		if other.alive && n.meets(other.machine) && n.world.wayTo(n, other) == open {
			life, rows := other.life, n.rows
			n.world.beats(n.machine, other.machine, func() {
				if other.life == life {
					other.hearBeat(n, b, rows)
				}
			})
		}
	}
}

// hearBeat records the beat of a node that read rows.
func (n *simNode) hearBeat(from *simNode, b beat, rows byte) {
	n.node.hears(b)
	if from != n {
		n.heardOf[from.index] = rows
	}
}
