package scheduler

import (
	"slices"

	"github.com/carillon-io/carillon/job"
)

// standby is an engine that follows the one of a sim, on a store of its own, over a tail that may be
// held up.
type standby struct {
	engine *Engine
	store  *memStore
	behind []commit // not applied yet
	held   bool     // the tail is held up
}

// commit is one entry of a log.
type commit struct {
	at    job.Position
	batch []byte
}

// join lets a standby begin with a copy of the store, and follow from there.
func (s *sim) join() {
	store := s.store.Clone()
	opts := s.opts
	opts.Store = store
	e, err := Follow(opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.other = &standby{engine: e, store: store}
	s.log.tail = func(at job.Position, batch []byte) {
		s.other.behind = append(s.other.behind, commit{at, slices.Clone(batch)})
		if !s.other.held {
			s.catchUp()
		}
	}
}

// catchUp lets the standby apply what has come.
func (s *sim) catchUp() {
	for _, c := range s.other.behind {
		if err := s.other.engine.Apply(c.at, c.batch); err != nil {
			s.t.Fatalf("apply commit %d: %v", c.at.LSN, err)
		}
	}
	s.other.behind = nil
}

// takeOver kills the leader and promotes the standby in its place; a new one joins. It returns why not.
func (s *sim) takeOver() error {
	s.catchUp()
	tail := s.log.tail
	s.log.tail = nil
	if err := s.other.engine.Lead(); err != nil {
		s.log.tail = tail
		return err
	}
	s.store = s.other.store
	s.opts.Store = s.store
	s.run(s.other.engine)
	s.join()
	return nil
}
