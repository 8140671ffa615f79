package main

import "time"

// progress tells how far a long command is, on the standard error.
type progress struct {
	con           *console
	noun, done    string
	started, told time.Time
}

// newProgress begins to tell of things, such as runs, to which something is done, such as retried.
func newProgress(con *console, noun, done string) *progress {
	now := time.Now()
	return &progress{con: con, noun: noun, done: done, started: now, told: now}
}

// tell says that so many are done, unless it said so a short while ago.
func (p *progress) tell(n int) {
	now := time.Now()
	if now.Sub(p.told) < progressAfter {
		return
	}
	p.told = now
	p.con.notef("%s %s so far, %.0f a second\n", plural(n, p.noun), p.done, float64(n)/now.Sub(p.started).Seconds())
}

// end says how many were done in all.
func (p *progress) end(n int) { p.con.notef("%s %s\n", plural(n, p.noun), p.done) }
