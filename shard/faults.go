package shard

// The faults that tests of the packages above need, and cannot cause from outside.

// Kill ends the engine at once, as a signal that cannot be caught would: it releases nothing, reports nothing and
// records no outcome. The caller calls Close afterwards.
func (s *Shard) Kill() {
	s.stop()
	<-s.done
}

// Stall keeps a member from using its log and its store until release is called, like a disk that stands still. The
// node goes on answering other nodes.
func (s *Shard) Stall() (release func()) {
	s.mu.Lock()
	return s.mu.Unlock
}
