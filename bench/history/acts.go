package history

import (
	"fmt"
	"slices"
	"time"
)

// acts lists what a client does, with the weight of each act in the random choice. One-shots are the most frequent,
// because each of them is a separate chance to lose a run; updates and pauses follow, since they compete with runs
// that are about to be launched.
var acts = []struct {
	// The weights need no common sum: Run adds them up.
	weight int
	do     func(*Client)
}{
	{28, (*Client).actOneShot},
	{6, (*Client).actMany},
	{5, (*Client).actRecurring},
	{14, (*Client).actUpdate},
	{8, (*Client).actPause},
	{9, (*Client).actResume},
	{7, (*Client).actDelete},
	{12, (*Client).actTrigger},
	{11, (*Client).actGet},
}

// The bounds of one client's jobs.
const (
	// Recurring jobs make most deliveries; more of them would leave less time for requests.
	recurringMax = 6
	// Old jobs have no runs any more, so requests about them would prove little.
	recentMax = 30 // jobs to which it still sends requests
	manyMax   = 12 // jobs in a bulk registration
)

// actOneShot registers a one-shot under a new name, on condition that there is none: a request that took effect
// twice would be refused the second time.
func (c *Client) actOneShot() {
	o := c.newJob(c.randomOneShot())
	none := 0
	if c.put(o, o.spec, &none) != refused {
		c.keep(o)
	}
}

// keep adds a job to those to which the client sends further requests. It drops old one-shots.
func (c *Client) keep(o *owned) {
	c.jobs = append(c.jobs, o)
	shots := len(c.jobs) - c.recurring
	if shots <= recentMax {
		return
	}
	oldest := slices.IndexFunc(c.jobs, func(o *owned) bool { return o.spec.Kind == oneShot })
	c.jobs = slices.Delete(c.jobs, oldest, oldest+1)
}

// actRecurring registers a job with an interval, or in one of three cases a cron expression. Intervals are a tenth
// of a second to a second, and whole seconds for cron.
func (c *Client) actRecurring() {
	if c.recurring >= recurringMax {
		c.actOneShot()
		return
	}
	kind, steps := every, []time.Duration{100, 150, 250, 400, 700, 1000}
	if c.rng.IntN(3) == 0 {
		kind, steps = cron, []time.Duration{1000, 1000, 2000}
	}
	spec := c.randomSpec(kind)
	spec.Step = steps[c.rng.IntN(len(steps))] * time.Millisecond
	o := c.newJob(spec)
	if c.put(o, spec, nil) != refused {
		c.recurring++
		c.jobs = append(c.jobs, o)
	}
}

// actMany registers one-shots in bulk. Each job has its own outcome. The ops share one request: without a reply all of
// them are unknown, because the server may have taken some.
func (c *Client) actMany() {
	jobs := make([]*owned, 1+c.rng.IntN(manyMax))
	ops := make([]*Op, len(jobs))
	var in putManyRequest
	for i := range jobs {
		o := c.newJob(c.randomOneShot())
		spec := o.spec // a copy, so that later changes do not change the record
		jobs[i], ops[i] = o, c.rec.Begin(Op{Kind: opPut, Job: o.name, Spec: &spec})
		in.Jobs = append(in.Jobs, spec.wire(o.name, ops[i].ID, c.targets))
	}
	var reply putManyReply
	res := c.api.call("jobs.put_many", in, &reply)
	for i, op := range ops {
		each := res
		if res.outcome == acked {
			each = reply.item(i, op.Job)
		}
		c.rec.End(op, each, func(op *Op) { op.Version = reply.Results[i].Version })
	}
	if res.outcome == acked {
		// One of them is enough for further requests; the others show that a bulk loses nothing.
		c.keep(jobs[0])
	}
}

// item returns the result of the i-th job in a bulk reply. A result that is missing or of another job is unknown, and
// a check reports it.
func (r *putManyReply) item(i int, name string) result {
	if i >= len(r.Results) || r.Results[i].Name != name {
		return result{unknown, fmt.Sprintf("result %d of %d is not of %s", i, len(r.Results), name)}
	}
	if e := r.Results[i].Error; e != nil {
		return refusalOf(*e)
	}
	return result{acked, ""}
}

// pick returns one of the client's jobs for which ok holds, nil if there is none. It begins at a random job, so that
// each has a chance.
func (c *Client) pick(ok func(*owned) bool) *owned {
	if len(c.jobs) == 0 {
		return nil
	}
	first := c.rng.IntN(len(c.jobs))
	for i := range c.jobs {
		if o := c.jobs[(first+i)%len(c.jobs)]; ok(o) {
			return o
		}
	}
	return nil
}

// Three in four are conditional on the version, so that both kinds of put meet pauses, deaths and each other. It
// sends the whole definition again with a new mark, so each delivery shows which update it is of.
func (c *Client) actUpdate() {
	o := c.pick(func(*owned) bool { return true })
	if o == nil {
		return
	}
	if o.version == 0 && c.get(o).outcome == unknown {
		return
	}
	spec := o.spec
	spec.Paused = o.paused
	if spec.Kind == oneShot {
		spec.Due = c.randomDue()
	}
	if version := o.version; version != 0 && c.rng.IntN(4) != 0 {
		c.put(o, spec, &version)
		return
	}
	c.put(o, spec, nil)
}

// actPause pauses a job that the client believes to be active.
func (c *Client) actPause() {
	o := c.pick(func(o *owned) bool { return !o.paused })
	if o == nil {
		return
	}
	if c.change(opPause, o).outcome == acked {
		o.paused = true
	}
}

// actResume resumes a job that the client believes to be paused.
func (c *Client) actResume() {
	o := c.pick(func(o *owned) bool { return o.paused })
	if o == nil {
		return
	}
	if c.change(opResume, o).outcome == acked {
		o.paused = false
	}
}

// actDelete deletes a one-shot, or rarely a recurring job.
func (c *Client) actDelete() {
	o := c.pick(func(o *owned) bool { return o.spec.Kind == oneShot || c.rng.IntN(20) == 0 })
	if o == nil {
		return
	}
	c.change(opDelete, o)
	if o.spec.Kind != oneShot {
		c.recurring--
	}
	c.jobs = slices.DeleteFunc(c.jobs, func(other *owned) bool { return other == o })
}

// actTrigger triggers the client's manual job, mostly with a new key, sometimes with one that was
// used before or with none.
func (c *Client) actTrigger() {
	if c.manual == nil {
		o := c.newJob(c.randomSpec(manual))
		o.spec.Due = Now().Add(farAhead)
		if c.put(o, o.spec, nil) == acked {
			c.manual = o
		}
		return
	}
	switch n := c.rng.IntN(10); {
	case n == 0:
		c.trigger("")
	case n <= 3 && len(c.keys) > 0:
		c.trigger(c.keys[len(c.keys)-1-c.rng.IntN(min(len(c.keys), 10))])
	default:
		c.keys = append(c.keys, fmt.Sprintf("key-%d-%d", c.id, len(c.keys)))
		c.trigger(c.keys[len(c.keys)-1])
	}
}

// actGet reads a job, so that states in between are compared too, and not only those at the end.
func (c *Client) actGet() {
	if o := c.pick(func(*owned) bool { return true }); o != nil {
		c.get(o)
	}
}
