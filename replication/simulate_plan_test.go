package replication

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/carillon-io/carillon/job"
)

// mode says which acknowledged messages the stream may lose.
type mode int

const (
	keeping mode = iota // nothing
	losing              // the end, as far as every node has it: no commit that counts may be lost by that
	lossy               // anything: the nodes have to agree on what remains
	// regrowing loses the end as far as every node has applied it; publications that were under way still
	// arrive, and so may take the place of what is lost.
	regrowing
)

func (m mode) String() string { return [...]string{"keeping", "losing", "lossy", "regrowing"}[m] }

// faults are the probabilities of what can happen to a request.
type faults struct{ requestLost, answerLost, requestLate float64 }

// plan says what goes wrong in a simulation, and how often. Each fault is in only some of the plans, so that it
// meets the others in all combinations, and some plans have few faults.
type plan struct {
	seed        uint64
	mode        mode
	nodes       int
	length      time.Duration
	commitEvery time.Duration // longest time between two commits
	loud        bool

	stream, lease, reads faults
	asks                 faults        // between the nodes
	latest               time.Duration // longest delay of a late request
	far                  time.Duration // what each way between two nodes takes in any case
	failOpen             float64
	staleBounds          float64
	staleLook            float64
	handOver             float64
	crash, pause, part   time.Duration // about the time between two of them; 0: never
	cut, split           time.Duration
	lag, election        time.Duration
	loss, trim, bucket   time.Duration
	deletion             time.Duration
	slow                 time.Duration // about the time between two nodes whose reads become slow
	stall                time.Duration // about the time between two times that beats are late
	stuck                float64       // the loop of a leader stands still after a commit, and the rest of its process does not
	roll                 float64       // a process is of another release than the one before it
	anew                 float64       // while a publication is under way, the stream is lost and grows to the same length without it
	syncs                bool          // NATS is known to sync what it acknowledges
	several              bool          // the cluster has several shards, see simKeys
	ends                 time.Duration // about the time between two ends of an epoch
	shardsPlan
}

func newPlan(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 1))
	some := func(p float64) float64 {
		if r.IntN(2) == 0 {
			return 0
		}
		return p * r.Float64()
	}
	every := func(shortest time.Duration) time.Duration {
		if r.IntN(2) == 0 {
			return 0
		}
		return shortest + time.Duration(r.Int64N(int64(5*shortest)))
	}
	p := plan{
		seed: seed, mode: []mode{keeping, keeping, keeping, losing, lossy}[r.IntN(5)], nodes: 2 + r.IntN(2),
		length: 40*time.Second + time.Duration(r.Int64N(int64(80*time.Second))), commitEvery: 20*time.Millisecond + time.Duration(r.Int64N(int64(400*time.Millisecond))),
		stream:   faults{some(0.05), some(0.1), some(0.05)},
		lease:    faults{some(0.1), some(0.1), some(0.1)},
		reads:    faults{some(0.02), some(0.02), some(0.02)},
		failOpen: some(0.8), staleBounds: some(0.5), staleLook: some(0.5), handOver: some(0.02),
		crash: every(8 * time.Second), pause: every(10 * time.Second), part: every(10 * time.Second),
		lag: every(8 * time.Second), election: every(15 * time.Second), trim: every(10 * time.Second), bucket: every(40 * time.Second),
	}
	p.latest = 10 * time.Second
	p.asks, p.cut = faults{some(0.1), some(0.1), some(0.2)}, every(8*time.Second)
	switch p.mode {
	case losing:
		p.failOpen, p.loss = 0, 3*time.Second+time.Duration(r.Int64N(int64(5*time.Second)))
	case lossy:
		p.loss, p.deletion = 5*time.Second+time.Duration(r.Int64N(int64(20*time.Second))), every(30*time.Second)
	}
	if p.mode == losing && r.IntN(2) == 0 {
		p.mode, p.stream.requestLate, p.latest = regrowing, 0.05+0.2*r.Float64(), 40*time.Second
		p.crash = 4*time.Second + time.Duration(r.Int64N(int64(8*time.Second)))
		p.anew = 0.03
	}
	p.roll = some(0.8)
	p.slow, p.split = every(15*time.Second), every(20*time.Second)
	if seed%8 == 0 {
		p.rollOften(r)
	}
	p.stall = every(10 * time.Second)
	p.stuck = some(0.02)
	if seed%8 == 4 {
		p.growAnew(r)
	}
	if p.anew > 0 {
		p.bucket = 0 // a stream that has lost all, and the bucket with it, are for an operator
	}
	p.syncs = p.mode == keeping && p.bucket == 0 && r.IntN(2) == 0
	return p
}

// growAnew makes a plan one in which the stream is often lost and grows to the same length again. The seeds of these worlds
// are apart, too.
func (p *plan) growAnew(r *rand.Rand) {
	p.mode, p.failOpen, p.deletion, p.length = regrowing, 0, 0, 2*time.Minute
	p.loss = 5*time.Second + time.Duration(r.Int64N(int64(20*time.Second)))
	p.stream.requestLate, p.latest = 0.05*r.Float64(), 40*time.Second
	p.crash, p.anew = 5*time.Second+time.Duration(r.Int64N(int64(20*time.Second))), 0.1+0.2*r.Float64()
}

// rollOften makes a plan one in which nodes with other releases are away while others begin to lead. The seeds of these
// worlds are apart, so that the others stay as they were before there were any.
func (p *plan) rollOften(r *rand.Rand) {
	p.mode, p.nodes, p.length = keeping, 3, 2*time.Minute
	p.loss, p.deletion, p.stream.requestLate, p.latest = 0, 0, 0, 10*time.Second
	p.roll, p.crash = 0.9, 3*time.Second+time.Duration(r.Int64N(int64(6*time.Second)))
}

func (p plan) String() string {
	return fmt.Sprintf("%d nodes, %s for %s", p.nodes, p.mode, p.length.Round(time.Second))
}

// begin plans the faults that occur by themselves.
func (p plan) begin(w *world) {
	for _, n := range w.nodes {
		w.after(w.between(0, beatEvery), n.beat)
		w.after(w.between(0, askEvery), n.ask)
	}
	any := func() *simNode { return w.nodes[w.rng.IntN(len(w.nodes))] }
	w.often(p.crash, func() { any().crash(w.between(50*time.Millisecond, 20*time.Second)) })
	w.often(p.pause, func() { any().pause(w.between(10*time.Millisecond, 40*time.Second)) })
	w.often(p.part, func() {
		n := any()
		n.part(w.between(10*time.Millisecond, 10*time.Second))
	})
	w.often(p.split, func() { w.split(w.between(10*time.Millisecond, 30*time.Second)) })
	w.often(p.cut, func() { w.cut(w.between(10*time.Millisecond, 15*time.Second)) })
	w.often(p.stall, func() { w.stall(w.between(10*time.Millisecond, 10*time.Second)) })
	w.often(p.lag, func() {
		n := any()
		n.lag = w.between(10*time.Millisecond, 4*time.Second)
		w.after(w.between(time.Second, 10*time.Second), func() { n.lag = 0 })
	})
	w.often(p.slow, func() {
		any().slowDown(w.between(100*time.Millisecond, 300*time.Millisecond), w.between(10*time.Second, 90*time.Second))
	})
	w.often(p.election, func() { w.elect() })
	w.often(p.trim, func() { w.stream.trim(20 + w.rng.IntN(400)) })
	if p.bucket > 0 && p.several {
		w.after(w.between(0, p.length), w.keys.recreate)
	} else if p.bucket > 0 {
		w.after(w.between(0, p.length), w.lease.recreate)
	}
	w.often(p.ends, func() { w.keys.endEpoch(any().name) })
	w.often(p.loss, func() { w.loseTail() })
	w.often(p.deletion, func() { w.delete() })
	w.often(askedEvery, w.check.readCopies)
}

// often repeats an action until the world is healed.
func (g *ground) often(every time.Duration, do func()) {
	if every == 0 {
		return
	}
	g.after(g.between(0, 2*every), func() {
		if !g.healed {
			do()
			g.often(every, do)
		}
	})
}

// elect leaves the stream, or the bucket, or both without a leader for as long as elections take.
func (w *world) elect() {
	w.saw("election")
	till := w.now + w.between(10*time.Millisecond, 9*time.Second)
	if w.rng.IntN(3) != 0 {
		w.stream.offTill = till
	}
	if w.rng.IntN(3) != 0 {
		w.bucket.offTill = till
	}
}

// loseTail drops some of the newest messages.
func (w *world) loseTail() {
	n := 1 + w.rng.IntN(6)
	if w.plan.mode != lossy {
		n = w.spare(n)
	}
	w.stream.lose(n)
	w.forget()
}

// forget informs some consumers that the stream has lost its end.
func (w *world) forget() {
	for _, node := range w.nodes {
		if w.rng.IntN(2) == 0 {
			node.next = min(node.next, w.stream.last()+1)
		}
	}
}

// spare returns how many of the newest messages, up to a bound, every node has.
func (w *world) spare(most int) int {
	for _, n := range w.nodes {
		if n.local.Last().Epoch != w.check.reader.at.Epoch {
			return 0
		}
	}
	count := 0
	for m := w.stream.messages; count < min(most, len(m)); count++ {
		if f, err := decodeFrame(m[len(m)-1-count].data); err != nil || w.check.has(f.At) && !w.allHave(f.At) {
			break
		}
	}
	return count
}

func (w *world) allHave(at job.Position) bool {
	for _, n := range w.nodes {
		if found, ok := n.local.Find(at.LSN); at.LSN > n.local.log.base.LSN && (!ok || found != at) {
			return false
		}
		if w.plan.mode == regrowing && at.LSN > n.local.applied.LSN {
			return false
		}
	}
	return true
}

// delete deletes the stream. If no leader makes it anew, the operator does.
func (w *world) delete() {
	w.saw("stream deleted")
	w.stream.gone, w.stream.messages = true, nil
	w.stream.era++
	w.after(20*time.Second, w.stream.restore)
}

// heal ends all faults.
func (w *world) heal() {
	w.note("healed")
	w.healed = true
	w.stream.offTill, w.bucket.offTill = 0, 0
	clear(w.links)
	for _, n := range w.nodes {
		n.wakeNow()
		n.lag, n.slow, n.linked, n.muted, n.island = 0, 0, true, false, 0
		w.after(time.Second, n.start)
	}
}
