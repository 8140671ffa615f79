package scheduler

import "math"

// By how much a launch is put off, as far as the model knows.

// putOff returns by how much the jitter puts off a tick at least.
func (j *modelJob) putOff(tick int64) int64 { return int64(j.lowShare * float64(j.jitterAt(tick))) }

// comesNearer takes in that an update may bring the launch of a tick that has passed nearer: it has less jitter, or none.
func (j *modelJob) comesNearer(now int64) {
	tick := j.next()
	if tick == 0 || tick >= now || j.def.jitter == 0 {
		return
	}
	span := j.jitterAt(tick)
	if j.highShare > 0 {
		span = int64(math.Ceil(j.highShare * float64(span)))
	}
	if tick != j.nearTick {
		j.nearTick, j.nearFrom = tick, 0
	}
	j.nearFrom = max(j.nearFrom, tick+span)
}

// jitterAt returns by how much the jitter may put off a tick: by no more than the time to the next one.
func (j *modelJob) jitterAt(tick int64) int64 {
	if next := j.ticks.next(tick); next > tick {
		return min(j.def.jitter, next-tick)
	}
	return j.def.jitter
}

// jitters takes in by how much a launch is put off, and reports whether that agrees with what is known: a
// job keeps its share of the jitter, of which no more counts than the time to its next tick.
func (j *modelJob) jitters(tick, due int64) bool {
	span := j.jitterAt(tick)
	off := due - tick
	if span == 0 || off < 0 || off >= span {
		return off == 0
	}
	low, high := float64(off)/float64(span), float64(off+1)/float64(span)
	if j.highShare == 0 {
		j.highShare = 1
	}
	j.lowShare, j.highShare = max(j.lowShare, low), min(j.highShare, high)
	return j.lowShare <= j.highShare+math.SmallestNonzeroFloat64
}
