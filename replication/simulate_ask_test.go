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

func (g *ground) wayTo(from, to *simNode) wayState { return g.links[[2]int{from.index, to.index}] }

// cut breaks the connection between two nodes that both reach the servers: in one direction, or in both.
func (g *ground) cut(d time.Duration) {
	a := g.rng.IntN(len(g.machines))
	b := (a + 1 + g.rng.IntN(len(g.machines)-1)) % len(g.machines)
	state, both := silent+wayState(g.rng.IntN(2)), g.rng.IntN(2) == 0
	g.saw("link cut", uint64(a), uint64(b), uint64(state))
	g.links[[2]int{a, b}] = state
	if both || state == reset {
		g.links[[2]int{b, a}] = state
	}
	g.after(d, func() {
		delete(g.links, [2]int{a, b})
		delete(g.links, [2]int{b, a})
	})
}

// stall lets the beats from one machine to another wait, in their order, as on a connection or in a server that is behind.
func (g *ground) stall(d time.Duration) {
	a := g.rng.IntN(len(g.machines))
	b := (a + 1 + g.rng.IntN(len(g.machines)-1)) % len(g.machines)
	g.saw("beats late", uint64(a), uint64(b))
	g.stalls[[2]int{a, b}] = g.now + d
}

// beats carries a beat from one machine to another.
func (g *ground) beats(from, to *machine, hear func()) {
	if until := g.stalls[[2]int{from.index, to.index}]; until >= g.now && !g.healed {
		g.at(until, hear)
		return
	}
	hear()
}

// question is a question of a node to the holder of a term, as askOnce asks it: twice, if the first answer permits the
// first promise.
type question struct {
	from, to *simNode
	life     int           // of from
	nth      uint64        // number of the question
	term     uint64        // term of which from knew before it asked
	sent     time.Duration // on the clock of from
	promises bool          // the question that is under way has a promise
	second   bool          // it is the second one
}

// ask asks the holder of the lease whether it is alive, as askHolders does.
func (n *simNode) ask() {
	w := n.world
	w.after(askEvery, n.ask)
	if !n.alive || n.asking || n.still() {
		return
	}
	holder, _, term := n.node.holder()
	if holder == "" || holder == n.name {
		return
	}
	n.asking = true
	n.asked++
	q := &question{from: n, to: w.nodes[holder[0]-'a'], life: n.life, nth: n.asked, term: term}
	w.after(askTimeout, func() { q.finish(holderReply{}, context.DeadlineExceeded) })
	q.send()
}

// send sends the question. It is lost or late, or the servers report that no process answers.
func (q *question) send() {
	n, other, w := q.from, q.to, q.from.world
	sent := n.node.question(&n.asker, other.name, q.term, 0)
	q.sent = n.boot()
	q.promises = sent.Promise != 0
	switch {
	case !n.linked && !n.meets(other.machine) || w.wayTo(n, other) == silent || other.muted && !n.meets(other.machine) || w.chance(w.plan.asks.requestLost):
	case !other.alive || !n.meets(other.machine) || w.wayTo(n, other) == reset:
		w.after(w.between(100*time.Microsecond, 2*time.Millisecond), func() { q.finish(holderReply{}, nats.ErrNoResponders) })
	default:
		life := other.life
		w.after(w.way(w.plan.asks), func() { other.answer(q, life, sent) })
	}
}

// answer answers a question. A process that stands still answers when it goes on.
func (n *simNode) answer(q *question, life int, sent holderQuestion) {
	w := n.world
	switch {
	case life != n.life:
		return
	case n.still():
		n.awake(func() { n.answer(q, life, sent) })
		return
	}
	r := n.node.reply(sent)
	if n.meets(q.from.machine) && w.wayTo(n, q.from) == open && !w.chance(w.plan.asks.answerLost) {
		w.after(w.way(w.plan.asks), func() { q.finish(r, nil) })
	}
}

// finish passes on the outcome of a question as soon as the process goes on, or asks the second time.
func (q *question) finish(r holderReply, err error) {
	n := q.from
	switch {
	case q.life != n.life || q.nth != n.asked || !n.asking:
		return
	case n.still():
		n.awake(func() { q.finish(r, err) })
		return
	}
	outcome := n.asker.outcome(r, err)
	if outcome == answered && !q.promises && !q.second && n.asker.stamp != 0 {
		q.second = true
		q.send()
		return
	}
	if err == nil {
		n.node.heads.named(q.sent, &r)
	}
	n.asking = false
	n.hosted.hearsOf(answer{node: q.to.name, outcome: outcome, ended: err == nil && r.Term < q.term})
}
