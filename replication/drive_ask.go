package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/placement"
)

// PlaceRequest is an operator's request about the nodes, or about the places of shards. The leader of shard 0 answers it on
// [PlaceSubject]. With one shard the only verb is remove.
type PlaceRequest struct {
	// Verb is drain or keep, with the member node: that node is to hold nothing, or again its share; remove, with node: the
	// node does not come back; or move, with shard and to: the node "to" is to hold the shard, and to lead it.
	Verb  string `json:"verb"`
	Node  string `json:"node,omitempty"`
	Shard uint32 `json:"shard,omitempty"`
	To    string `json:"to,omitempty"`
}

// read decodes a request. It refuses members that are for another verb: a drain with a shard may be meant for that shard alone.
func (q *PlaceRequest) read(data []byte) error {
	err := readOperator(data, q, `{"verb":"drain","node":"node-b"}`)
	switch isMove := q.Verb == PlaceMove; {
	case err != nil:
		return err
	case isMove && q.Node != "":
		return apierr.Errorf(apierr.InvalidField, "node", `is no member of the verb move; want the node that is to have the shard as "to"; nothing has changed`)
	case !isMove && q.Shard != 0:
		return apierr.Errorf(apierr.InvalidField, "shard", "is a member of the verb move only; nothing has changed")
	case !isMove && q.To != "":
		return apierr.Errorf(apierr.InvalidField, "to", "is a member of the verb move only; nothing has changed")
	}
	return nil
}

// PlaceReply answers a PlaceRequest once what it asks for is durable; it is carried out afterwards. That of a removal comes when NATS has
// forgotten the node.
type PlaceReply struct {
	Node string `json:"node"`           // that answers
	From string `json:"from,omitempty"` // of a move: the node whose copy goes
	// Pending is, of a removal, what NATS has still to do before the next node may die; "" if nothing.
	Pending string `json:"pending,omitempty"`
	Error   string `json:"error,omitempty"`
	Code    string `json:"code,omitempty"` // of the error, as the API has it
}

// The verbs of a PlaceRequest.
const (
	PlaceDrain  = "drain"
	PlaceKeep   = "keep"
	PlaceRemove = "remove"
	PlaceMove   = "move"
)

// replyPlace is the value of the reply header that marks a PlaceReply.
const replyPlace = "place"

// PlaceSubject returns the subject on which the leader of shard 0 takes requests about the places of shards: a
// [PlaceRequest] as JSON, which it answers with a [PlaceReply].
func PlaceSubject(prefix string) string { return subjects{prefix: prefix}.place() }

// asksMost bounds the requests of operators that wait.
const asksMost = 16

// answerPlace passes an operator's request on, if this process leads shard 0. All nodes subscribe to the subject, so that the
// sender need not know which one leads.
func (h *Host) answerPlace(m *inbox.Request) {
	if !h.member(everywhere).leads() {
		return
	}
	select {
	case h.asks <- m:
	default:
		h.replyPlace(m, PlaceReply{}, apierr.Errorf(apierr.Unavailable, "", "%d requests wait already; ask again later", asksMost))
	}
}

// answerPlaces answers the requests of operators, one at a time, until ctx ends. It does not wait for what they ask for, but for NATS to
// forget a node.
func (h *Host) answerPlaces(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-h.asks:
			var request PlaceRequest
			if err := request.read(m.Data); err != nil {
				h.replyPlace(m, PlaceReply{}, err)
				continue
			}
			if !h.awaitDrive(ctx) {
				h.replyPlace(m, PlaceReply{}, apierr.Errorf(apierr.Unavailable, "", "node %s leads shard 0, and its lease is not confirmed at the moment, so it has changed nothing; ask again", h.opts.Node))
				continue
			}
			reply, err := h.place(ctx, &request, m.Header.Get(byHeader))
			h.replyPlace(m, reply, err)
		}
	}
}

// drivePoll is the time between two looks of [Host.awaitDrive]: the lease is confirmed without a signal.
const drivePoll = 25 * time.Millisecond

// awaitDrive waits until this process drives, for callTimeout at most: a leader whose lease is not confirmed for a moment need
// not refuse what it is asked. It returns false if it does not drive by then.
func (h *Host) awaitDrive(ctx context.Context) bool {
	for end := h.opts.Boot() + callTimeout; !h.drives(); {
		if h.opts.Boot() >= end {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(drivePoll):
		}
	}
	return true
}

// replyPlace answers a request of an operator.
func (h *Host) replyPlace(m *inbox.Request, reply PlaceReply, err error) {
	if reply.Node = h.opts.Node; err != nil {
		reply.Error, reply.Code = err.Error(), string(apierr.From(err).Code)
	}
	respond(m, replyPlace, reply)
}

// judgedMost bounds how often a request is judged, see [Host.place].
const judgedMost = 5

// place carries out an operator's request. The reply says what came of it.
//
// The audit log needs time for the entry of the request, and the driver or another process may change the places meanwhile. So the
// request is judged again when its entry is there, and whenever a key was not what it was judged by. A move of which another copy
// goes then has another entry.
func (h *Host) place(ctx context.Context, q *PlaceRequest, by string) (reply PlaceReply, err error) {
	isLeft, err := h.isLeftInNATS(ctx, q)
	if err != nil {
		return reply, err
	}
	reply.From, err = h.change(ctx, q, by, isLeft)
	if err == nil && q.Verb == PlaceRemove {
		reply.Pending, err = h.forgetInNATS(ctx, q.Node)
	}
	if err == nil {
		h.opts.Logger.Info("an operator's request about the places of shards", slog.String("verb", q.Verb), slog.String("node", q.Node), slog.String("to", q.To))
	}
	return reply, notWritten(err)
}

// change writes what an operator asks for, see place.
func (h *Host) change(ctx context.Context, q *PlaceRequest, by string, isLeft bool) (from string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	audited, entry := false, "" // the copy that goes by the newest entry
	for range judgedMost {
		var act func(context.Context) error
		if from, act, err = h.placing(q, isLeft); err != nil {
			break
		}
		if !audited || entry != from {
			if err = h.auditPlace(ctx, q, by, from); err != nil {
				break
			}
			audited, entry, err = true, from, errLost // unless it is still right
			continue
		}
		if err = act(ctx); !errors.Is(err, errLost) {
			break
		}
	}
	return from, err
}

// placing judges an operator's request by what is known now, and returns what carries it out over just that. An act that returns
// errLost has found something else, and this process knows it then. isLeft says that NATS alone counts the node, see isLeftInNATS.
func (h *Host) placing(q *PlaceRequest, isLeft bool) (from string, act func(context.Context) error, err error) {
	if h.opts.Shards == 1 && q.Verb != PlaceRemove {
		return "", nil, apierr.Errorf(apierr.InvalidField, "verb", "the cluster has one shard, of which each node has a copy, so none moves; want %s, of a node that is gone", PlaceRemove)
	}
	now := h.opts.Boot()
	if !h.hasHeardAll(now) {
		return "", nil, apierr.Errorf(apierr.Unavailable, "", "node %s leads shard 0 and has just begun to listen, so it may not know all nodes, and has changed nothing; ask again in a few seconds", h.opts.Node)
	}
	o := h.outlook(now)
	drain := func(drains bool) func(context.Context) error {
		return func(ctx context.Context) error {
			return h.places.putDrain(ctx, h.keys, q.Node, o.drains[q.Node], drains)
		}
	}
	switch q.Verb {
	case PlaceDrain:
		return "", drain(true), refused("node", placement.CanDrain(o.nodes, o.placed(), h.copies(), q.Node))
	case PlaceKeep:
		if !o.drains[q.Node].value.Drains {
			return "", nil, apierr.Errorf(apierr.InvalidField, "node", "node %s does not drain", q.Node)
		}
		return "", drain(false), nil
	case PlaceRemove:
		act = func(ctx context.Context) error { return h.remove(ctx, &o, q.Node) }
		if err = placement.CanRemove(o.nodes, o.placed(), q.Node); isLeft && errors.Is(err, placement.ErrNoNode) {
			err = nil
		}
		return "", act, refused("node", err)
	case PlaceMove:
		if q.Shard == everywhere {
			return "", nil, apierr.Errorf(apierr.InvalidField, "shard", "shard 0 is on every node, so no copy of it moves; a hand-over lets another node lead it")
		}
		m, err := placement.CanMove(o.nodes, o.placed(), h.copies(), q.Shard, q.To)
		return m.From, func(ctx context.Context) error { return h.move(ctx, m, o.places[m.Shard]) }, refused("to", err)
	}
	return "", nil, apierr.Errorf(apierr.InvalidField, "verb", "there is no verb %q; want %s, %s, %s or %s", q.Verb, PlaceDrain, PlaceKeep, PlaceRemove, PlaceMove)
}

// notWritten returns what an operator learns of an error: a refusal as it is, and of the bucket, that it did not answer.
func notWritten(err error) error {
	refusal, isRefusal := errors.AsType[*apierr.Error](err)
	switch {
	case err == nil:
		return nil
	case isRefusal:
		return refusal
	case errors.Is(err, errLost):
		return apierr.Errorf(apierr.Unavailable, "", "the places have changed meanwhile; ask again")
	default:
		return apierr.Errorf(apierr.Unavailable, "", "JetStream does not answer for the places of the shards, so whether the request took effect is unknown; ask again (%s)", err)
	}
}

// refused returns a refusal of the planner as callers learn it; nil for nil.
func refused(field string, err error) error {
	switch _, isBusy := errors.AsType[*placement.BusyError](err); {
	case err == nil:
		return nil
	case isBusy:
		return apierr.Errorf(apierr.Unavailable, field, "%s", err)
	}
	return apierr.Errorf(apierr.InvalidField, field, "%s", err)
}

// move lets a node hold a shard, whose place is still the one that was judged.
func (h *Host) move(ctx context.Context, m placement.Move, at placeSeen) error {
	next := at.value
	next.Joins, next.Leaves, next.Pinned = m.To, m.From, true
	h.opts.Logger.Info("an operator moves a copy of a shard", slog.Uint64(job.LogShard, uint64(m.Shard)), slog.String("to", m.To), slog.String("from", m.From))
	return h.places.put(ctx, h.keys, at, next)
}

// requestHandover asks the leader of a shard, which may be another node, to hand over. It does not wait for the reply: the
// beats show what came of it.
func (h *Host) requestHandover(shard uint32, to string) {
	o := h.opts
	o.Shard = shard
	request, _ := json.Marshal(handoverRequest{To: &to, Own: true}) // a string: it cannot fail
	if err := h.ties.publish(subjectsOf(o).handover(), request); err != nil {
		h.warn(fmt.Sprintf("the leader of shard %d was not asked to hand over", shard), err)
	}
}

// Place is where the copies of a shard are, for the status.
type Place struct {
	Copies        []string // nodes that hold a copy, or did when they were last heard
	Joins, Leaves string   // of a move under way; "" if there is none
}

// PlaceOf returns where the copies of a shard are; no copies if that is not known.
func (h *Host) PlaceOf(shard uint32) Place {
	if h.places == nil {
		return Place{}
	}
	v := h.places.of(shard).value
	return Place{Copies: slices.Clone(v.Copies), Joins: v.Joins, Leaves: v.Leaves}
}
