package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Client sends random requests, one at a time, about jobs that are its own. Not safe for concurrent
// use.
type Client struct {
	id      int
	rng     *rand.Rand
	api     *Caller
	rec     *Recorder
	targets *Targets

	jobs      []*owned // that it believes to exist, oldest first
	recurring int      // of them, those that tick again and again
	manual    *owned
	named     int      // jobs named so far
	keys      []string // idempotency keys used so far
}

// owned is what a client believes of one of its jobs.
type owned struct {
	name    string
	spec    Spec
	version int // 0: not known
	paused  bool
}

// thinkMax bounds the pause between two requests of a client. It sets the load: the server is to be
// busy, not swamped, because what counts is the number of deaths and not of requests.
const thinkMax = 40 * time.Millisecond

// NewClient returns a client with a number of its own. Its requests follow from seed and number.
func NewClient(id int, seed uint64, api *Caller, rec *Recorder, t *Targets) *Client {
	return &Client{id: id, rng: rand.New(rand.NewPCG(seed, uint64(id)+1)), api: api, rec: rec, targets: t}
}

// Run sends requests until ctx ends. A request that is under way then is still answered.
func (c *Client) Run(ctx context.Context) {
	total := 0
	for _, a := range acts {
		total += a.weight
	}
	for ctx.Err() == nil {
		n := c.rng.IntN(total)
		for _, a := range acts {
			if n -= a.weight; n < 0 {
				a.do(c)
				break
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(c.rng.Int64N(int64(thinkMax)))):
		}
	}
}

// steadyStep is the distance of two ticks of a job that nobody touches.
const steadyStep = 250 * time.Millisecond

// PutSteady registers so many recurring jobs that no later request touches, and returns when all are
// acknowledged or ctx ends. Their target is HTTP: nothing but the server can make them late.
func (c *Client) PutSteady(ctx context.Context, jobs int) {
	for range jobs {
		spec := c.randomSpec(every)
		spec.Step, spec.Target, spec.Missed, spec.Overlap = steadyStep, "http", "backfill", "allow"
		for o := c.newJob(spec); c.put(o, spec, nil) != acked; o = c.newJob(spec) {
			if ctx.Err() != nil {
				return
			}
			time.Sleep(thinkMax)
		}
	}
}

// newJob makes a name that was never used before. Names are not used twice, so that a delivery says
// by its name alone which life of a job it belongs to.
func (c *Client) newJob(spec Spec) *owned {
	c.named++
	return &owned{name: fmt.Sprintf("%s-%d-%d", spec.Kind, c.id, c.named), spec: spec}
}

// put sends a definition. A nil version puts no condition.
func (c *Client) put(o *owned, spec Spec, ifVersion *int) Outcome {
	op := c.rec.Begin(Op{Kind: opPut, Job: o.name, Spec: &spec})
	var reply oneJobReply
	res := c.api.call("jobs.put", putRequest{spec.wire(o.name, op.ID, c.targets), ifVersion}, &reply)
	c.rec.End(op, res, func(op *Op) { op.Version = reply.Job.Version })
	switch {
	case res.outcome == acked:
		o.spec, o.version, o.paused = spec, reply.Job.Version, spec.Paused
	case res.outcome == unknown || res.code == codeConflict:
		o.version = 0
	}
	return res.outcome
}

// change sends a delete, a pause or a resume.
func (c *Client) change(kind OpKind, o *owned) result {
	verb := map[OpKind]string{opDelete: "jobs.delete", opPause: "jobs.pause", opResume: "jobs.resume"}[kind]
	op := c.rec.Begin(Op{Kind: kind, Job: o.name})
	var reply oneJobReply
	res := c.api.call(verb, nameRequest{o.name}, &reply)
	c.rec.End(op, res, func(op *Op) { op.Version = reply.Job.Version })
	o.version = reply.Job.Version // 0 if it is not known any more
	return res
}

// get reads a job, and takes what it says for the truth.
func (c *Client) get(o *owned) result {
	op := c.rec.Begin(Op{Kind: opGet, Job: o.name})
	var reply oneJobReply
	res := c.api.call("jobs.get", nameRequest{o.name}, &reply)
	c.rec.End(op, res, func(op *Op) { op.Seen, op.Version = reply.Job.state(), reply.Job.Version })
	if res.outcome == acked {
		o.version = reply.Job.Version
		o.paused = reply.Job.Paused
	}
	return res
}

// trigger asks for a run now, and again with the same key while the outcome is unknown.
func (c *Client) trigger(key string) {
	const triesMax = 3
	for range triesMax {
		op := c.rec.Begin(Op{Kind: opTrigger, Job: c.manual.name, Key: key})
		var reply oneRunReply
		res := c.api.call("jobs.trigger", triggerRequest{c.manual.name, &payloadWire{op.ID}, key}, &reply)
		c.rec.End(op, res, func(op *Op) { op.RunID = reply.Run.RunID })
		if res.outcome != unknown || key == "" {
			return
		}
	}
}
