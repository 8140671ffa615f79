package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Client sends random requests, one at a time, about jobs that no other client changes. It is not safe for concurrent
// use. Each job belongs to one client, so that the requests about a job form a sequence; without that, the possible
// states of a job would be all interleavings.
type Client struct {
	id int
	// rng decides the requests, but not their times, which depend on the server; a seed repeats the first and not
	// the second.
	rng *rand.Rand
	api *Caller
	rec *Recorder
	// targets are the same for all clients.
	targets *Targets

	jobs      []*owned // jobs that it believes to exist, oldest first
	recurring int      // number of them that are recurring
	manual    *owned
	named     int      // number of names used so far
	shards    int      // into which Keep has divided the jobs; 0: it was not called
	shard     int      // to which all its jobs belong then
	keys      []string // idempotency keys used so far
}

// owned is what a client knows about one of its jobs. It may be wrong after a request without an answer; the checks
// use the recorded ops instead.
type owned struct {
	name string
	spec Spec
	// the client then sends an unconditional put
	version int // 0: not known
	// paused decides which act fits the job; it may be out of date.
	paused bool
}

// thinkMax bounds the pause between two requests of a client. It determines the load: the server should
// be busy but not overloaded, because the test needs many deaths rather than many requests.
const thinkMax = 40 * time.Millisecond

// NewClient returns the client with the number id. seed and id determine its requests.
func NewClient(id int, seed uint64, api *Caller, rec *Recorder, t *Targets) *Client {
	return &Client{id: id, rng: rand.New(rand.NewPCG(seed, uint64(id)+1)), api: api, rec: rec, targets: t}
}

// Run sends requests until ctx ends. It waits for the answer to the last one. It is called once, in a goroutine of its
// own.
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

// steadyStep is the interval of the jobs of PutSteady. Four ticks a second of each job show a gap of service with
// enough precision and little load.
const steadyStep = 250 * time.Millisecond

// PutSteady registers recurring jobs that no later request changes, and returns when all are
// acknowledged or ctx ends. Their target is HTTP, which no fault disturbs, so only the server can make
// them late.
func (c *Client) PutSteady(ctx context.Context, jobs int) {
	for range jobs {
		spec := c.randomSpec(every)
		spec.Step, spec.Target, spec.Missed, spec.Overlap = steadyStep, "http", "backfill", "allow"
		c.insist(ctx, spec)
	}
}

// insist registers a job until it is acknowledged or ctx ends. Each try has a new name, because an unacknowledged one
// may exist already.
func (c *Client) insist(ctx context.Context, spec Spec) {
	for o := c.newJob(spec); c.put(o, spec, nil) != acked && ctx.Err() == nil; o = c.newJob(spec) {
		time.Sleep(thinkMax)
	}
}

// policyStep is the interval of the jobs of PutPolicies. It is above the time of an attempt on an idle machine, so
// that without a fault no tick meets a run in progress.
const policyStep = 100 * time.Millisecond

// overlapPolicies lists all overlap policies.
var overlapPolicies = []string{"allow", "skip", "buffer_one", "buffer_all", "cancel_other"}

// PutPolicies registers a recurring job for each overlap policy, as PutSteady does. The sink accepts
// each of their runs at once, so a tick can overlap the run before it only by a fault of the server.
func (c *Client) PutPolicies(ctx context.Context) {
	for _, policy := range overlapPolicies {
		spec := Spec{Kind: every, Step: policyStep, Target: "http", Missed: "backfill", Overlap: policy, Sure: true}
		c.insist(ctx, spec)
	}
}

// PutSkipping registers a recurring job as PutPolicies does, which skips a tick that overlaps a run or is missed. What a
// shard does not decide in time is lost to it.
func (c *Client) PutSkipping(ctx context.Context) {
	c.insist(ctx, Spec{Kind: every, Step: policyStep, Target: "http", Missed: "skip", Overlap: "skip", Sure: true})
}

// newJob returns a job with a new name. Names are never reused, so the name in a delivery identifies the
// job even after a delete.
func (c *Client) newJob(spec Spec) *owned {
	for {
		c.named++
		name := fmt.Sprintf("%s-%d-%d", spec.Kind, c.id, c.named)
		if c.shards == 0 || ShardOf(name, c.shards) == c.shard {
			return &owned{name: name, spec: spec}
		}
	}
}

// put sends a definition. With a nil ifVersion the put is unconditional.
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

// change sends a delete, a pause or a resume. The requests are unconditional, so that they also meet a job that
// another of the client's requests has just changed.
func (c *Client) change(kind OpKind, o *owned) result {
	verb := map[OpKind]string{opDelete: "jobs.delete", opPause: "jobs.pause", opResume: "jobs.resume"}[kind]
	op := c.rec.Begin(Op{Kind: kind, Job: o.name})
	var reply oneJobReply
	res := c.api.call(verb, nameRequest{o.name}, &reply)
	c.rec.End(op, res, func(op *Op) { op.Version = reply.Job.Version })
	o.version = reply.Job.Version // 0 if it is no longer known
	return res
}

// get reads a job, and updates what the client knows about it.
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

// trigger fires a run now, and repeats the request with the same key while the outcome is unknown. Without a key a
// repetition could fire a second run, so it is not repeated.
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
