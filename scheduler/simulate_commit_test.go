package scheduler

// A commit that takes long holds up the loop alone: launches leave that are due, and targets answer.

// waitFor lets so many milliseconds pass while a commit is under way.
func (w *world) waitFor(millis int64) {
	end := w.passed + millis
	for w.alive && w.model.broken == "" {
		w.launchAndLand()
		next, i := end+1, w.nextLanding()
		if i >= 0 {
			next = w.events[i].at
		}
		for _, at := range []int64{int64(w.engine.pad.NextDue()), int64(w.engine.pad.NextLater())} {
			if at != 0 && at-w.offset < next {
				next, i = at-w.offset, -1
			}
		}
		if next > end {
			break
		}
		if w.passed = max(w.passed, next); i >= 0 {
			w.events.Remove(i).run()
		}
	}
	w.passed = end
}

// launchAndLand lets the feeder, the tick and the targets come to rest.
func (w *world) launchAndLand() {
	for n := 0; w.model.broken == ""; n++ {
		moved := w.feed()
		moved = w.tick() || moved
		if moved = w.land() || moved; !moved {
			return
		}
		if n == 100_000 {
			w.model.fail("rest", nil, "the pad does not come to rest during a commit")
		}
	}
}

// nextLanding returns the place of the first answer of a target to come, or -1.
func (w *world) nextLanding() int {
	first := -1
	for i, e := range w.events {
		if e.lands && (first < 0 || e.Before(w.events[first])) {
			first = i
		}
	}
	return first
}
