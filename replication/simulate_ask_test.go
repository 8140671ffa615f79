package replication

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

// wayState is the fate of the messages from one node to another.
type wayState int

const (
	open   wayState = iota
	silent          // the message is lost
	reset           // the servers report that there is no connection
)

func (w *world) wayTo(from, to *simNode) wayState { return w.links[[2]int{from.index, to.index}] }

// cut breaks the connection between two nodes that both reach the servers: in one direction, or in both.
func (w *world) cut(d time.Duration) {
	a := w.rng.IntN(len(w.nodes))
	b := (a + 1 + w.rng.IntN(len(w.nodes)-1)) % len(w.nodes)
	state, both := silent+wayState(w.rng.IntN(2)), w.rng.IntN(2) == 0
	w.saw("link cut", uint64(a), uint64(b), uint64(state))
	w.links[[2]int{a, b}] = state
	if both || state == reset {
		w.links[[2]int{b, a}] = state
	}
	w.after(d, func() {
		delete(w.links, [2]int{a, b})
		delete(w.links, [2]int{b, a})
	})
}

// ask asks the holder of the lease whether it is alive, as askHolders does.
func (n *simNode) ask() {
	w := n.world
	w.after(askEvery, n.ask)
	if !n.alive || n.asking || n.pausedUntil > w.now {
		return
	}
	holder, _, term := n.node.holder()
	if holder == "" || holder == n.name {
		return
	}
	n.asking = true
	n.asked++
	life, nth, other := n.life, n.asked, w.nodes[holder[0]-'a']
	finish := func(r holderReply, err error) { n.heard(life, nth, holder, r, err) }
	w.after(askTimeout, func() { finish(holderReply{}, context.DeadlineExceeded) })
	q := n.node.question(&n.asker, holder, term)
	switch {
	case !n.linked || w.wayTo(n, other) == silent || other.muted || w.chance(w.plan.asks.requestLost):
	case !other.alive || !other.linked || w.wayTo(n, other) == reset:
		w.after(w.between(100*time.Microsecond, 2*time.Millisecond), func() { finish(holderReply{}, nats.ErrNoResponders) })
	default:
		otherLife := other.life
		w.after(w.way(w.plan.asks), func() { other.answer(n, otherLife, q, finish) })
	}
}

// answer answers a question. A process that stands still answers when it goes on.
func (n *simNode) answer(to *simNode, life int, q holderQuestion, finish func(holderReply, error)) {
	w := n.world
	switch {
	case life != n.life:
		return
	case n.pausedUntil > w.now:
		w.at(n.pausedUntil, func() { n.answer(to, life, q, finish) })
		return
	}
	r := n.node.reply(q)
	if n.linked && to.linked && w.wayTo(n, to) == open && !w.chance(w.plan.asks.answerLost) {
		w.after(w.way(w.plan.asks), func() { finish(r, nil) })
	}
}

// heard passes on the outcome of a question as soon as the process goes on.
func (n *simNode) heard(life int, nth uint64, holder string, r holderReply, err error) {
	switch {
	case life != n.life || nth != n.asked || !n.asking:
		return
	case n.pausedUntil > n.world.now:
		n.world.at(n.pausedUntil, func() { n.heard(life, nth, holder, r, err) })
		return
	}
	n.asking = false
	if a := (answer{node: holder, outcome: n.asker.outcome(r, err)}); len(n.answers) < 4 {
		n.answers = append(n.answers, a)
	}
}

// hear processes the answers.
func (n *simNode) hear() {
	for _, a := range n.answers {
		if a.node == n.node.challenger.value.Node {
			n.node.challenger.heard(n.boot(), a.outcome)
		}
	}
	n.answers = nil
}
