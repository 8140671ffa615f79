package main

import (
	"fmt"
	"slices"
	"time"
)

// acts are what a client does, with how often it does it.
var acts = []struct {
	weight int
	do     func(*client)
}{
	{28, (*client).actOneShot},
	{6, (*client).actMany},
	{5, (*client).actRecurring},
	{14, (*client).actUpdate},
	{8, (*client).actPause},
	{9, (*client).actResume},
	{7, (*client).actDelete},
	{12, (*client).actTrigger},
	{11, (*client).actGet},
}

// Bounds of what one client keeps going.
const (
	recurringMax = 6
	recentMax    = 30 // jobs that it still comes back to
	manyMax      = 12 // jobs of a bulk registration
)

func (c *client) actOneShot() {
	o := c.newJob(c.randomOneShot())
	none := 0
	if c.put(o, o.spec, &none) != refused {
		c.keep(o)
	}
}

// keep adds a job to those that the client comes back to. Old one-shots are let go.
func (c *client) keep(o *owned) {
	c.jobs = append(c.jobs, o)
	shots := len(c.jobs) - c.recurring
	if shots <= recentMax {
		return
	}
	oldest := slices.IndexFunc(c.jobs, func(o *owned) bool { return o.spec.Kind == oneShot })
	c.jobs = slices.Delete(c.jobs, oldest, oldest+1)
}

func (c *client) actRecurring() {
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

// actMany registers one-shots in bulk. Each item has an outcome of its own.
func (c *client) actMany() {
	jobs := make([]*owned, 1+c.rng.IntN(manyMax))
	ops := make([]*Op, len(jobs))
	var in putManyRequest
	for i := range jobs {
		o := c.newJob(c.randomOneShot())
		spec := o.spec // the record keeps it as it is now
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
		c.keep(jobs[0])
	}
}

// item returns what a bulk reply says of its i-th job.
func (r *putManyReply) item(i int, name string) result {
	if i >= len(r.Results) || r.Results[i].Name != name {
		return result{unknown, fmt.Sprintf("result %d of %d is not of %s", i, len(r.Results), name)}
	}
	if e := r.Results[i].Error; e != nil {
		return result{refused, e.Code}
	}
	return result{acked, ""}
}

// pick returns one of the client's jobs for which ok holds, nil if there is none.
func (c *client) pick(ok func(*owned) bool) *owned {
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

func (c *client) actUpdate() {
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

func (c *client) actPause() {
	o := c.pick(func(o *owned) bool { return !o.paused })
	if o == nil {
		return
	}
	if c.change(opPause, o).outcome == acked {
		o.paused = true
	}
}

func (c *client) actResume() {
	o := c.pick(func(o *owned) bool { return o.paused })
	if o == nil {
		return
	}
	if c.change(opResume, o).outcome == acked {
		o.paused = false
	}
}

// actDelete deletes a one-shot, or rarely a job that ticks again and again.
func (c *client) actDelete() {
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
func (c *client) actTrigger() {
	if c.manual == nil {
		o := c.newJob(c.randomSpec(manual))
		o.spec.Due = now().add(farAhead)
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

func (c *client) actGet() {
	if o := c.pick(func(*owned) bool { return true }); o != nil {
		c.get(o)
	}
}
