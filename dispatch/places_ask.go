package dispatch

// ask is a call of reserve that found no place: the function to call when one is free.
type ask struct {
	weight int64 // payload bytes of the attempt
	room   func() bool
}

// grant is a place that places has taken for an ask, whose room is still to be called.
type grant struct {
	ask
	lane *lane
}

// grant returns the grant of the first ask of a lane, which has its place.
func (s *places) grant(l *lane) grant {
	s.asked.Add(-1)
	return grant{l.asks.Pop(), l}
}

// isAsked reports whether launches wait for a place. It takes no lock.
func (s *places) isAsked() bool { return s.asked.Load() > 0 }
