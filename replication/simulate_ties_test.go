package replication

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
)

// tiesOfNode are the ways from the process of a machine to the others. They implement ties.
type tiesOfNode struct{ *machine }

// publish implements ties.
func (t tiesOfNode) publish(subject string, data []byte) error {
	names := subjects{prefix: "carillon", several: true}
	if subject == names.beat() {
		t.beat(data)
		return nil
	}
	for _, w := range t.ground.worlds {
		if names.shard = w.number; subject == names.handover() {
			t.ground.keys.overseer.spreads(t.process, w.number)
			t.askHandover(w.number, data)
		}
	}
	return nil
}

// reaches reports whether what this machine sends to another one arrives.
func (t tiesOfNode) reaches(to *machine) bool {
	return t.meets(to) && t.ground.links[[2]int{t.index, to.index}] == open
}

// beat carries a beat to all processes. One that stands still hears it when it goes on.
func (t tiesOfNode) beat(data []byte) {
	for _, to := range t.ground.machines {
		if p := to.process; p != nil && p.listens && t.reaches(to) {
			t.ground.beats(t.machine, to, func() {
				p.later(func() {
					p.heard[t.name] = t.ground.now
					delete(p.gone, t.name)
					p.host.hearBeat(&inbox.Request{Data: data})
				})
			})
		}
	}
}

// later calls do at once, or when the process goes on if it stands still.
func (p *process) later(do func()) {
	switch {
	case p.machine.process != p:
	case p.still():
		p.awake(func() { p.later(do) })
	default:
		do()
	}
}

// askHandover carries a request to hand over to all members of a shard. It may be lost or late.
func (m *machine) askHandover(shard uint32, data []byte) {
	t, g := tiesOfNode{m}, m.ground
	for _, to := range g.machines {
		if p := to.process; p != nil && p.listens && (to == m || t.reaches(to)) && !g.chance(g.plan.asks.requestLost) {
			g.after(g.way(g.plan.asks), func() {
				p.later(func() {
					if n := p.members[shard]; n.alive {
						n.node.answerHandover(&inbox.Request{Data: data})
					}
				})
			})
		}
	}
}

// hostCall is a question to a process for whose answer a task waits.
type hostCall struct {
	from *machine
	task *task
	done bool
	data []byte
	err  error
}

func (c *hostCall) finish(data []byte, err error) {
	if !c.done {
		c.done, c.data, c.err = true, data, err
		c.from.ground.resume(c.task)
	}
}

// request implements ties. The only question is the one to the holder of leases.
func (t tiesOfNode) request(_ context.Context, within time.Duration, subject string, data []byte) ([]byte, error) {
	g, c := t.ground, &hostCall{from: t.machine, task: t.ground.task}
	to := g.machines[strings.TrimPrefix(subject, "carillon.cluster.node.")[0]-'a']
	way := g.links[[2]int{t.index, to.index}]
	g.after(within, func() { c.finish(nil, context.DeadlineExceeded) })
	switch p := to.process; {
	case !t.linked && !t.meets(to) || way == silent || to.muted && !t.meets(to) || g.chance(g.plan.asks.requestLost):
	case p == nil || !p.listens || !t.meets(to) || way == reset:
		g.after(g.between(100*time.Microsecond, 2*time.Millisecond), func() { c.finish(nil, nats.ErrNoResponders) })
	default:
		g.after(g.way(g.plan.asks), func() { p.later(func() { p.answer(c, data) }) })
	}
	g.give(c.task)
	return c.data, c.err
}

// answer answers a question about leases.
func (p *process) answer(c *hostCall, data []byte) {
	var q hostQuestion
	_ = json.Unmarshal(data, &q)
	b, _ := json.Marshal(p.host.reply(&q))
	g := p.ground
	if (tiesOfNode{p.machine}).reaches(c.from) && !g.chance(g.plan.asks.answerLost) {
		g.after(g.way(g.plan.asks), func() { c.finish(b, nil) })
	}
}

// requestEach implements ties. There is one process of a name.
func (t tiesOfNode) requestEach(ctx context.Context, subject string, pass func(data []byte) (enough bool)) error {
	b, err := t.request(ctx, askTimeout, subject, nil)
	if err == nil && !pass(b) {
		t.ground.sleep(askTimeout)
		err = context.DeadlineExceeded
	}
	return err
}

// isWhole implements ties.
func (t tiesOfNode) isWhole(_ context.Context, shard uint32, empty bool) (whole bool, err error) {
	s := t.ground.worlds[shard].stream
	err = t.ground.request(t.machine, t.ground.plan.reads, func() error {
		whole = s.before == 0 && !(empty && s.last() > 0)
		return s.state()
	})
	return whole, err
}
