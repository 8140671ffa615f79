package fair

// sharesFactor is the largest ratio of the places that a party holds to those that are free. A larger one lets a single
// party use more, and leaves less to a second one that arrives.
const sharesFactor = 3

// Shares divides a fixed number of places among parties. A party may take a place while it holds fewer than three times
// as many as are free. So a single party gets three quarters of all, several parties get equal parts, and a party that
// holds none finds a place as long as one is free. Use NewShares. Every call takes constant time.
//
// Invariant: taken is the sum over by, and by has no zeros.
type Shares[P comparable] struct {
	places, taken int
	by            map[P]int
}

// NewShares returns shares of a number of places, all of them free.
func NewShares[P comparable](places int) Shares[P] {
	return Shares[P]{places: places, by: make(map[P]int)}
}

// Has reports whether a party may take a place now.
func (s *Shares[P]) Has(p P) bool { return s.by[p] < sharesFactor*(s.places-s.taken) }

// Take takes a place for a party, or returns false.
func (s *Shares[P]) Take(p P) bool {
	if !s.Has(p) {
		return false
	}
	s.taken++
	s.by[p]++
	return true
}

// Free gives back a place that the party holds.
func (s *Shares[P]) Free(p P) {
	s.taken--
	if s.by[p]--; s.by[p] == 0 {
		delete(s.by, p)
	}
}

// Held returns how many places a party holds.
func (s *Shares[P]) Held(p P) int { return s.by[p] }

// Taken returns how many places all parties hold.
func (s *Shares[P]) Taken() int { return s.taken }
