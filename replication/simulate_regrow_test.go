package replication

import "time"

// publication is a message on its way into the stream.
type publication struct {
	message []byte
	expect  uint64
	since   time.Duration // time of its arrival
}

// heldMost bounds the number of publications that are held back, heldTime the time.
const (
	heldMost = 64
	heldTime = time.Minute
	gapMost  = 12
)

// gather makes a stream regrow that loses its end: late publications, and some others, are held back until they
// fit in the place of what is lost. It loses only what every node has. It reports whether p is held back.
func (s *simStream) gather(p publication) bool {
	for len(s.held) > 0 && (len(s.held) > heldMost || s.now-s.held[0].since > heldTime) {
		s.held = s.held[1:]
	}
	if p.expect < s.last() || s.rng.IntN(20) == 0 {
		s.held = append(s.held, p)
		if s.rng.IntN(2) == 0 {
			s.shrink(p)
		}
		return true
	}
	if p.expect == s.last() {
		if s.chance(s.plan.anew) && s.renew(p) {
			return true
		}
		s.regrow()
	}
	return false
}

// renew makes the stream lose all that it has, for another log to grow in it to the same length: then p arrives, which
// continues what a node has read that has seen nothing of all this, and the leader dies. Before that somebody may depose
// the publisher. It reports whether it has done so; p is held back then.
func (s *simStream) renew(p publication) bool {
	keep := 1 + s.rng.IntN(4)
	if all := len(s.messages); s.late.message != nil || all < keep || s.spare(all) < all {
		return false
	}
	for _, n := range s.nodes {
		if len(n.local.known.Nodes) == 0 || len(n.node.awaiting.known.Nodes) == 0 {
			return false // it could not tell whether it lacks something, after its next start or before it
		}
	}
	s.saw("the stream grows anew")
	s.trim(keep)
	s.lose(keep)
	s.forget()
	s.late = p
	if leader := s.check.leader(); leader != nil && s.rng.IntN(2) == 0 {
		leader.pause(s.between(5*time.Second, 20*time.Second))
	}
	return true
}

// fill stores the publication for which the stream has grown anew, as soon as it fits.
func (s *simStream) fill() {
	p := s.late
	switch {
	case p.message == nil || s.healed || p.expect > s.last():
	case p.expect < s.last() || s.now-p.since > heldTime:
		s.late = publication{}
	default:
		s.late = publication{}
		s.saw("late frame after a stream that grew anew")
		_, _ = s.publish(p.message, p.expect, s.era)
		if leader := s.check.leader(); leader != nil && s.rng.IntN(4) > 0 {
			s.after(s.between(0, 100*time.Millisecond), func() { leader.crash(s.between(time.Second, 20*time.Second)) })
		}
	}
}

// shrink drops what stands in the place of a late publication, and the publication takes that place.
func (s *simStream) shrink(p publication) {
	if n := int(s.last() - p.expect); p.expect >= s.before && n > 0 && s.spare(n) == n && s.isOther(p) {
		s.saw("late frame in the place of lost ones")
		s.lose(n)
		s.forget()
		_, _ = s.publish(p.message, p.expect, s.era)
	}
}

// regrow drops the end and lets it grow to the same length again, just before a publish that expects that
// length.
func (s *simStream) regrow() {
	for n := 1; n <= min(gapMost, len(s.messages)); n++ {
		found := s.fitting(n)
		if found == nil || s.spare(n) != n {
			continue
		}
		s.saw("regrown to its length")
		s.lose(n)
		s.forget()
		for _, p := range found {
			_, _ = s.publish(p.message, p.expect, s.era)
		}
		return
	}
}

// fitting returns held publications that fill the last n places, the first of which is not part of the log.
func (s *simStream) fitting(n int) (found []publication) {
	for expect := s.last() - uint64(n); expect < s.last(); expect++ {
		fits := -1
		for i, p := range s.held {
			if p.expect == expect && (fits < 0 || s.isOther(p)) {
				fits = i
			}
		}
		if fits < 0 || len(found) == 0 && !s.isOther(s.held[fits]) {
			return nil
		}
		found = append(found, s.held[fits])
	}
	return found
}

// isOther reports whether a publication is not part of the log.
func (s *simStream) isOther(p publication) bool {
	f, err := decodeFrame(p.message)
	return err == nil && !s.check.has(f.At)
}
