package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
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
	wasPaused   bool          // since the last commit
	resumed     time.Duration // when a pause ended last

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
		bucket: registerOfNode{n.world.lease, n}, warned: make(map[string]time.Time), rounds: newTrimmer(opts.StreamBytesMin),
		rival: rival{node: n.name, lease: opts.Lease, grace: opts.Grace, swift: true},
	}
	node.writer = writer{
		cursor: cursor{tail: tail{cluster: testCluster, next: testNext}, stream: streamOfNode{n.world.stream, n}, own: n.local},
		log:    n.local, frame: node.ownFrame,
		restore: func(ctx context.Context) error {
			node.rounds.reset()
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
			n.resumed = n.world.now
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

// follow is [Node.follow].
func (n *simNode) follow() (reason string) {
	ctx := context.Background()
	for {
		reason, err := n.tailOnce(ctx)
		failure := localError{}
		switch {
		case reason != "":
			return reason
		case errors.As(err, &failure):
			n.fail(err)
		case errors.Is(err, errBehind), errors.Is(err, errDiverged):
			n.bootstrap(err)
		case errors.Is(err, errMoved):
			n.world.saw("suspect looked into", uint64(n.index))
		default:
			n.world.sleep(retryPause)
		}
	}
}

// fail is an error that ends a process. None is ever due here.
func (n *simNode) fail(err error) {
	n.world.check.fail("failure", "%s ends itself: %v", n.name, err)
	n.world.give(n.world.task)
}

func (n *simNode) tailOnce(ctx context.Context) (string, error) {
	n.node.rounds.reset()
	if err := n.node.writer.locate(ctx); err != nil {
		return "", err
	}
	if err := n.node.writer.catchUp(ctx, n.node.take); err != nil {
		return "", err
	}
	n.next = n.node.writer.seq + 1
	f := n.node.following(nil, func(string) {})
	for {
		n.world.sleep(lookEvery)
		if err := n.deliver(ctx, f); err != nil {
			return "", err
		}
		n.watch()
		n.ask()
		if err := f.look(ctx); err != nil {
			return "", err
		}
		if n.reason = f.opening(); n.reason != "" && f.claim(ctx) {
			return n.reason, nil
		}
	}
}

// deliver is the consumer: it passes on what has come to the server that this node is connected to.
func (n *simNode) deliver(ctx context.Context, f *following) error {
	s := n.world.stream
	for n.linked && !s.gone {
		n.next = max(n.next, s.before+1)
		if n.next > s.last() || s.messages[n.next-s.before-1].stored > n.world.now-n.lag {
			return nil
		}
		m := message{n.next, s.messages[n.next-s.before-1].data}
		n.next++
		if err := f.takeMessage(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// watch passes on what the lease is by now.
func (n *simNode) watch() {
	if state := n.world.lease.asOf(n.world.now - n.watchDelay - n.lag); n.linked && state.since > n.watched.since {
		n.watched = state
		n.node.sawLease(leaseSeen{state.value, state.revision})
	}
}

// ask asks the holder of the lease whether it is there, as askHolders does.
func (n *simNode) ask() {
	holder, term := n.node.holder()
	if holder == "" || holder == n.name || !n.linked || n.world.now-n.asked < askEvery {
		return
	}
	n.asked = n.world.now
	other := n.world.nodes[holder[0]-'a']
	nobody := !other.alive || !other.linked
	if !nobody && other.pausedUntil <= n.world.now {
		nobody = other.node.term < term
	}
	n.node.rival.heard(n.boot(), nobody && holder == n.node.rival.value.Node)
}

// bootstrap copies the store of the leader.
func (n *simNode) bootstrap(cause error) {
	n.world.saw("joined anew", uint64(n.index))
	n.node.publishStatus(RoleJoining)
	n.world.sleep(n.world.between(100*time.Millisecond, 3*time.Second))
	leader, ok := n.node.peers.leader(n.boot())
	if !ok || leader.Node == n.name {
		n.world.sleep(retryPause)
		return
	}
	from := n.world.nodes[leader.Node[0]-'a']
	if !n.linked || !from.linked || !from.alive || from.pausedUntil > n.world.now {
		n.world.sleep(retryPause)
		return
	}
	n.world.note("adopt", uint64(n.index), from.local.applied.LSN)
	_ = n.local.Adopt(from.local.applied)
}

// lead is [Node.lead] without its hand-overs by Resign.
func (n *simNode) lead() {
	w := n.world
	w.saw("takes over: "+reasonOf(n.reason), uint64(n.index))
	ctx, end := context.WithCancel(context.Background())
	n.node.reign.ctx, n.node.reign.end = ctx, end
	n.reigns, n.launches = true, true
	n.relink()
	n.helper = w.spawn(n, func() { n.renewAll(ctx) })
	err := n.node.open(ctx)
	if failure := (localError{}); errors.As(err, &failure) {
		n.fail(err)
	}
	if err == nil {
		w.saw("leads", uint64(n.index), n.local.Last().Epoch)
		n.node.publishStatus(RoleLeader)
		n.serve(ctx)
	} else {
		w.saw("does not lead after all", uint64(n.index))
		n.launches = false
		n.node.giveUp("")
	}
	end()
	n.reigns, n.launches = false, false
	n.node.trusted.Store(0)
	n.node.publishStatus(RoleStandby)
	for !n.helper.over {
		w.sleep(10 * time.Millisecond)
	}
}

func (n *simNode) renewAll(ctx context.Context) {
	for {
		n.world.sleep(n.node.opts.Lease / renewalsOfLease)
		if ctx.Err() != nil {
			return
		}
		if err := n.node.renew(ctx); errors.Is(err, ErrDeposed) {
			n.world.saw("deposed by the lease", uint64(n.index))
			n.node.reign.end()
			return
		}
	}
}

// serve commits until the reign is over.
func (n *simNode) serve(ctx context.Context) {
	w := n.world
	for {
		w.sleep(w.between(5*time.Millisecond, w.plan.commitEvery))
		n.watch()
		n.node.publishStatus(RoleLeader)
		if ctx.Err() != nil {
			return
		}
		if w.chance(w.plan.handOver) {
			to, _ := n.node.successor("")
			w.saw("hands over", uint64(n.index))
			n.launches = false
			n.node.giveUp(to)
			return
		}
		err := n.commit(ctx)
		switch {
		case err == nil:
		case errors.Is(err, ErrDeposed):
			w.saw("deposed by the log", uint64(n.index))
			if n.wasPaused {
				w.saw("deposed after a pause", uint64(n.index))
			}
			return
		case ctx.Err() != nil:
			return
		default:
			n.fail(err)
		}
		n.wasPaused = false
	}
}

// commit is [Node.appendBoth], and what the engine does after it.
func (n *simNode) commit(ctx context.Context) error {
	w, prev := n.world, n.local.Last()
	n.operations++
	payload := fmt.Appendf(nil, "%s/%d/%d", n.name, prev.Epoch, n.operations)
	f := Frame{
		Cluster: testCluster, Author: n.node.author, At: testNext(prev, prev.Epoch, payload), Prev: prev.Hash, Payload: payload,
	}
	written, life := false, n.life
	write := func() {
		if life == n.life && !written {
			n.local.append(prev.Epoch, payload)
			written = true
		}
	}
	switch w.rng.IntN(3) {
	case 0:
		write()
		w.sleep(w.between(0, time.Millisecond))
	case 1:
		w.after(w.between(0, 5*time.Millisecond), write)
	}
	err := n.node.writer.place(ctx, &f)
	if !written {
		w.sleep(w.between(0, time.Millisecond))
	}
	write()
	if err != nil {
		return err
	}
	n.world.check.acknowledged(n, f.At)
	return n.local.Apply(f.At, payload)
}

// reasonOf is a reason without the name in it.
func reasonOf(reason string) string {
	for short, long := range map[string]string{
		"expired": "has not renewed", "silent": "nobody answers", "released": "has given", "own": "this node's", "none": "nobody holds",
	} {
		if strings.Contains(reason, long) {
			return short
		}
	}
	return "unknown"
}
