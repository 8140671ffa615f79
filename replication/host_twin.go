package replication

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/carillon-io/carillon/inbox"
)

// watchTwin ends the members of this process, with ErrReplaced as the cause, if another one runs under the node's name
// and is to go on.
func (h *Host) watchTwin(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-h.twin.beats:
			h.warn("another process runs under the name of this node; one of the two ends", errTwin(b))
			yields, why := h.yieldsTo(ctx, b)
			if yields && h.yield(ctx, b.Process) {
				err := fmt.Errorf("%w: another one goes by its node's name %q, and %s; this one ends. Give each node a name of its own (--node)", ErrReplaced, h.opts.Node, why)
				h.opts.Logger.Error("this process ends", slog.Any("error", err))
				for _, m := range h.all() {
					m.end(err)
				}
				return
			}
		}
	}
}

func errTwin(b beat) error {
	return fmt.Errorf("process %q is there", b.Process)
}

// yieldsTo reports whether this process is the one to end, and why: the process that has the lease goes on; if
// neither has it, the one that was started later does. A process of a release without such identifiers never
// counts as later. If the lease cannot be read, this process goes on, and the next beat of the other one
// repeats the decision.
func (h *Host) yieldsTo(ctx context.Context, b beat) (yields bool, why string) {
	process, isKnown := h.leaseProcess(ctx)
	switch {
	case !isKnown:
		return false, ""
	case process == h.opts.Process:
		return false, ""
	case process != "" && process == b.Process:
		return true, "has the lease"
	}
	return h.opts.Process < b.Process, "was started later"
}

// leaseProcess returns the process of this node that has a lease; "" if none has. isKnown is false if that cannot be read
// at present.
func (h *Host) leaseProcess(ctx context.Context) (process string, isKnown bool) {
	if h.lease != nil {
		h.lease.renewing.Lock()
		defer h.lease.renewing.Unlock()
		v, _, err := h.lease.read(ctx)
		return v.Process, err == nil
	}
	member := h.member(h.opts.Shard)
	if member == nil {
		return "", false
	}
	v, revision, err := member.register.read(ctx)
	if err != nil {
		return "", false
	}
	member.mu.Lock()
	held := member.term
	member.mu.Unlock()
	switch {
	case held > v.Term: // an old state of the lease was read
		return h.opts.Process, true
	case revision != 0 && v.Node == h.opts.Node && !v.Released:
		return v.Process, true
	}
	return "", true
}

// yield asks the other process whether it stays, and reports whether this one ends. Without a reply it goes on:
// that two processes run for a little longer does no harm, because the log and the lease tell them apart, but
// that both end would.
func (h *Host) yield(ctx context.Context, to string) bool {
	if to == "" {
		return true // that release does not know the question, and never ends by itself
	}
	h.twin.begin()
	ctx, cancel := context.WithTimeout(ctx, askMost)
	defer cancel()
	question, err := json.Marshal(yieldRequest{Process: h.opts.Process, To: to})
	if err != nil {
		return h.twin.finish(false)
	}
	var reply yieldReply
	m, err := h.opts.Conn.RequestWithContext(ctx, subjectsOf(h.opts).host(h.opts.Node, askYield), question)
	stays := err == nil && json.Unmarshal(m.Data, &reply) == nil && reply.Node == h.opts.Node && reply.Process == to
	return h.twin.finish(stays)
}

// answerYield confirms to another process of this name that this one stays.
func (h *Host) answerYield(m *inbox.Request) {
	var request yieldRequest
	if json.Unmarshal(m.Data, &request) != nil || request.To != h.opts.Process || h.resigns() {
		return
	}
	if h.twin.mayStay(h.opts.Process > request.Process) {
		respond(m, "cluster."+askYield, yieldReply{Node: h.opts.Node, Process: h.opts.Process})
	}
}
