package scheduler

import (
	"math/rand/v2"
	"slices"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// The standby of a world follows the process over a tail that comes late at times. When the process has died, it
// may be the standby that goes on: to the model that is a start like any other. It draws from random numbers
// of its own.

// simStandby is the standby of a world.
type simStandby struct {
	rng    *rand.Rand
	engine *Engine // nil: none
	store  *memStore
	behind []commit // in the log and not applied
	late   int      // commits until it catches up
	leads  int      // times that one took over
}

// simStandbyLag is how many commits a standby is behind, at most.
const simStandbyLag = 300

// join lets a standby begin with a copy of the store.
func (w *world) join() {
	b := &w.standby
	b.store, b.behind = w.store.Clone(), nil
	opts := w.opts
	opts.Store, opts.Settings.Zones, opts.Settings.Lead = simStore{b.store, &w.releases}, w.drawRules(), w.drawLead()
	e, err := Follow(opts)
	if err != nil {
		w.t.Fatal(err)
	}
	b.engine = e
}

// send lets the standby know of a commit, now or later.
func (w *world) send(at job.Position, batch []byte) {
	b := &w.standby
	if b.engine == nil {
		return
	}
	b.behind = append(b.behind, commit{at, slices.Clone(batch)})
	if b.late--; b.late <= 0 {
		b.late = b.rng.IntN(1 + b.rng.IntN(simStandbyLag))
		w.catchUp()
	}
}

// catchUp lets the standby apply what the log has.
func (w *world) catchUp() {
	b := &w.standby
	for _, c := range b.behind {
		if err := b.engine.Apply(c.at, c.batch); err != nil {
			w.model.fail("follow", nil, "%v", err)
		}
	}
	b.behind = nil
	if b.rng.IntN(2) == 0 {
		b.engine.Idle()
	}
}

// takeOver promotes the standby, and lets another one join.
func (w *world) takeOver() (*Engine, error) {
	b := &w.standby
	w.catchUp()
	w.checkFollowed()
	if err := b.engine.Lead(); err != nil {
		return nil, err
	}
	e := b.engine
	w.store = b.store
	w.opts.Store = simStore{w.store, &w.releases}
	w.join()
	b.leads++
	return e, nil
}

// checkFollowed compares what the standby knows with what it would know had it loaded its store.
func (w *world) checkFollowed() {
	followed := w.standby.engine.core
	loaded := core.New(followed.Inspect().Settings, instant.Millis(w.wall()))
	if err := loaded.Load(w.standby.store, w.standby.engine.hasher); err != nil {
		w.model.fail("follow", nil, "%v", err)
	}
	if diff := core.Diff(followed, loaded, false); diff != "" {
		w.model.fail("follow", nil, "%s", diff)
	}
}
