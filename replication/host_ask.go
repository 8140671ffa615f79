package replication

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
)

// hostQuestion is the question to a node in a cluster with several shards: what a holderQuestion asks, for each shard of
// which that node has the lease. Without shards it asks for all that the node has.
type hostQuestion struct {
	Node    string          `json:"node"`
	Process string          `json:"process"`
	Shards  []shardQuestion `json:"shards"`
}

// shardQuestion is the part of a question about one shard.
type shardQuestion struct {
	Shard uint32 `json:"shard"`
	holderQuestion
}

// hostReply answers a hostQuestion.
type hostReply struct {
	Node    string       `json:"node"`
	Process string       `json:"process"`
	Shards  []shardReply `json:"shards"`
}

// shardReply is the part of a reply about one shard.
type shardReply struct {
	Shard uint32 `json:"shard"`
	holderReply
}

// of returns what the reply says about a shard. A process that says nothing about it holds no lease of it.
func (r *hostReply) of(shard uint32) holderReply {
	for _, s := range r.Shards {
		if s.Shard == shard {
			return s.holderReply
		}
	}
	return holderReply{Node: r.Node, Process: r.Process}
}

// askAll regularly asks the holders of the leases whether they are alive, until ctx ends. When a process dies, the NATS
// server knows that at once and reports that there are no responders. A holder is asked again when it has answered, or
// when the question has timed out, so a slow one gets fewer questions and not a queue of them: one that takes longer to answer
// than questions are apart gets the next one at once.
func (h *Host) askAll(ctx context.Context) {
	tick := time.NewTimer(untilTick(askEvery))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.askSoon:
		case <-tick.C:
			tick.Reset(untilTick(askEvery))
		}
		for holder, group := range h.toAsk() {
			h.work.Go(func() {
				if h.askGroup(ctx, holder, group) {
					h.asksSoon()
				}
			})
		}
	}
}

// asksSoon lets askAll ask without waiting for its next time.
func (h *Host) asksSoon() {
	select {
	case h.askSoon <- struct{}{}:
	default: // there is an entry
	}
}

// askGroup asks a node about the leases of some members. If it does not answer in time, it may be distant, so askGroup measures
// that then. soon says that the next question is due at once.
func (h *Host) askGroup(ctx context.Context, node string, group []*hosted) (soon bool) {
	began := h.opts.Boot()
	err := h.askHolder(ctx, node, group)
	h.mu.Lock()
	for _, m := range group {
		m.asking = false
	}
	h.mu.Unlock()
	if errors.Is(err, context.DeadlineExceeded) {
		h.measure(ctx, node)
	}
	return err == nil && h.opts.Boot()-began >= askEvery
}

// measure finds out how long a node takes to answer, by a question for which it waits longer. Meanwhile other questions go on.
func (h *Host) measure(ctx context.Context, node string) {
	if h.distant.begins(node) {
		defer h.distant.ends(node)
		_, _ = h.ask(ctx, askMost, node, nil)
	}
}

// toAsk returns the members that have a question, by the node that it is for.
func (h *Host) toAsk() map[string][]*hosted {
	groups := make(map[string][]*hosted)
	for _, m := range h.all() {
		holder, _, _ := m.holder()
		if holder == "" || holder == h.opts.Node {
			continue
		}
		h.mu.Lock()
		if !m.asking {
			m.asking = true
			groups[holder] = append(groups[holder], m)
		}
		h.mu.Unlock()
	}
	return groups
}

// askHolder asks a node about the leases of some members, and passes the outcomes on to them. Two processes may run under
// its name for a moment; only the answer of the process that holds a lease proves that the holder is alive.
func (h *Host) askHolder(ctx context.Context, node string, group []*hosted) error {
	wait := h.distant.wait(node)
	asked := make([]leaseValue, len(group))
	for i, m := range group {
		_, asked[i].Process, asked[i].Term = m.holder()
	}
	questions := func() (list []shardQuestion) {
		for i, m := range group {
			q := m.question(&m.asker, node, asked[i].Term, h.distant.to(node))
			if h.opts.Shards > 1 {
				q.Node, q.Process = "", "" // said once for all
			}
			list = append(list, shardQuestion{m.opts.Shard, q})
		}
		return list
	}
	list, began := questions(), h.opts.Boot()
	reply, err := h.ask(ctx, wait, node, list)
	again, near := false, h.distant.to(node) <= h.opts.promiseWithin()
	for i, m := range group {
		again = near && err == nil && list[i].Promise == 0 && m.asker.outcome(reply.of(m.opts.Shard), nil) == answered && m.asker.stamp != 0 || again
	}
	if again {
		list, began = questions(), h.opts.Boot()
		reply, err = h.ask(ctx, wait, node, list) // the first promise can be given at once
	}
	for i, m := range group {
		m.hearsOf(h.outcome(ctx, m, node, asked[i], began, reply, err))
	}
	return err
}

// outcome returns what the reply of a node to a question that was sent at an instant means for a member.
func (h *Host) outcome(ctx context.Context, m *hosted, node string, asked leaseValue, began time.Duration, reply hostReply, err error) answer {
	if err == nil && asked.Process != "" && reply.Process != asked.Process {
		reply, err = h.askProcess(ctx, node, asked.Process)
	}
	r := reply.of(m.opts.Shard)
	if err == nil {
		m.heads.named(began, &r)
	}
	return answer{node: node, outcome: m.asker.outcome(r, err), ended: err == nil && r.Term < asked.Term}
}

// answeredEvery is the time between two answers of a holder that answers all the time that are passed on to the loop of the
// member: they tell it nothing new, but that it is to read the lease if the watch of that is silent.
const answeredEvery = time.Second

// hearsOf passes the outcome of a question on to the loop of the member.
func (m *hosted) hearsOf(a answer) {
	now := m.opts.Boot()
	if a.outcome == answered && a == m.told && now-m.toldAt < answeredEvery {
		return
	}
	select {
	case m.answers <- a:
		m.told, m.toldAt = a, now
	default: // a node that joins or leads does not read it
	}
}

// ask sends questions to a node, and waits for the answer for some time. An empty list asks whether it is there.
func (h *Host) ask(ctx context.Context, within time.Duration, node string, list []shardQuestion) (hostReply, error) {
	question := hostQuestion{h.opts.Node, h.opts.Process, list}
	var b []byte
	var err error
	switch {
	case h.opts.Shards > 1:
		b, err = json.Marshal(question)
	case len(list) == 1:
		b, err = json.Marshal(list[0].holderQuestion)
	default:
		b, err = json.Marshal(holderQuestion{})
	}
	if err != nil {
		return hostReply{}, err
	}
	began := h.opts.Boot()
	data, err := h.ties.request(ctx, within, subjectsOf(h.opts).host(node, askHolder), b)
	if err != nil {
		return hostReply{}, err
	}
	reply, ok := h.readReply(data)
	if !ok || reply.Node != node {
		return hostReply{}, errForeignReply
	}
	h.distant.took(node, h.opts.Boot()-began)
	return reply, nil
}

// readReply reads the reply of a node; ok is false if it is none.
func (h *Host) readReply(data []byte) (reply hostReply, ok bool) {
	if h.opts.Shards > 1 {
		return reply, json.Unmarshal(data, &reply) == nil
	}
	var r holderReply
	ok = json.Unmarshal(data, &r) == nil
	return hostReply{r.Node, r.Process, []shardReply{{h.opts.Shard, r}}}, ok
}

// isThere reports whether a node answers at this moment.
func (h *Host) isThere(ctx context.Context, node string) bool {
	_, err := h.ask(ctx, askMost, node, nil)
	return err == nil
}

// answerHolder answers a question about the leases.
func (h *Host) answerHolder(m *inbox.Request) {
	if h.opts.Shards == 1 {
		var q holderQuestion
		_ = json.Unmarshal(m.Data, &q) // nodes of older releases send no data
		if member := h.member(h.opts.Shard); member != nil {
			respond(m, "cluster."+askHolder, member.reply(q))
		}
		return
	}
	var q hostQuestion
	_ = json.Unmarshal(m.Data, &q)
	respond(m, "cluster."+askHolder, h.reply(&q))
}

// reply answers a question. About a shard that this process does not have, it says nothing.
func (h *Host) reply(q *hostQuestion) hostReply {
	reply := hostReply{Node: h.opts.Node, Process: h.opts.Process, Shards: []shardReply{}}
	asked := make(map[uint32]holderQuestion, min(len(q.Shards), h.opts.Shards))
	for _, s := range q.Shards {
		asked[s.Shard] = s.holderQuestion
	}
	for _, m := range h.all() {
		about, ok := asked[m.opts.Shard]
		if about.Node, about.Process = q.Node, q.Process; !ok && len(q.Shards) > 0 {
			continue
		}
		if r := m.reply(about); ok || r.Term != 0 {
			r.Node, r.Process = "", "" // said once for all
			reply.Shards = append(reply.Shards, shardReply{m.opts.Shard, r})
		}
	}
	return reply
}

// askProcess asks the process that holds a lease after another process of its name has answered. If the holder does not
// answer, the other one's answer counts.
func (h *Host) askProcess(ctx context.Context, node, process string) (reply hostReply, err error) {
	ctx, cancel := context.WithTimeout(ctx, h.distant.wait(node))
	defer cancel()
	foreign := true
	err = h.ties.requestEach(ctx, subjectsOf(h.opts).host(node, askHolder), func(data []byte) (enough bool) {
		r, ok := h.readReply(data)
		if !ok || r.Node != node {
			return false
		}
		reply, foreign = r, false
		return r.Process == process
	})
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return reply, err
	case foreign:
		return reply, errForeignReply
	}
	return reply, nil
}
