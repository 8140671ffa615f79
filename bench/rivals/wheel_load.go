package main

import "math/rand/v2"

// timerLead is how far ahead the first timer is due, in milliseconds.
const timerLead = 600_000

// timerLoad is what is done to each structure: n timers are armed; a tenth of them is cancelled, as
// many others are armed, and another tenth is moved; then the clock runs until all are due. Timers
// have the ids 0 to n-1, and those armed later the ones from n on. Times are milliseconds on a virtual
// clock that begins at 0.
type timerLoad struct {
	n         int
	end       int64    // nothing is due at or after it
	first     []uint32 // by id: the deadline it is armed with
	last      []uint32 // by id: the deadline in the end
	cancelled []uint32 // ids in the order in which they are cancelled
	moved     []uint32 // ids in the order in which they are moved
}

// newTimerLoad draws deadlines evenly from span milliseconds that begin after lead.
func newTimerLoad(n int, lead, span int64, seed uint64) *timerLoad {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	tenth := n / 10
	l := &timerLoad{n: n, end: lead + span, first: make([]uint32, n+tenth)}
	deadline := func() uint32 { return uint32(lead + random.Int64N(span)) }
	for id := range l.first {
		l.first[id] = deadline()
	}
	picked := pickIDs(n, 2*tenth, random)
	l.cancelled, l.moved = picked[:tenth], picked[tenth:]
	l.last = append([]uint32(nil), l.first...)
	for _, id := range l.moved {
		l.last[id] = deadline()
	}
	return l
}

// pickIDs draws so many of the ids below n, each at most once.
func pickIDs(n, count int, random *rand.Rand) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	for i := range count {
		j := i + random.IntN(n-i)
		ids[i], ids[j] = ids[j], ids[i]
	}
	return append([]uint32(nil), ids[:count]...)
}

// isCancelled returns, by id, which timers are cancelled.
func (l *timerLoad) isCancelled() []bool {
	gone := make([]bool, len(l.last))
	for _, id := range l.cancelled {
		gone[id] = true
	}
	return gone
}

// moveBound is the most timers that may move down in one tick of the wheel: it follows from the
// deadlines alone. A coarse slot empties evenly over as many ticks as it spans, so each level moves at
// most ceil(timers in its fullest slot / ticks of a slot).
func (l *timerLoad) moveBound(start int64) int {
	const slotBits = 8 // the wheel's shape, as its documentation has it
	bound, gone := 0, l.isCancelled()
	for shift := uint(slotBits); int64(1)<<shift <= l.end; shift += slotBits {
		span := int64(1) << shift
		bound += int((l.fullest(start, shift, gone) + span - 1) / span)
	}
	return bound
}

// fullest is the number of timers in the fullest slot of 1<<shift ticks.
func (l *timerLoad) fullest(start int64, shift uint, gone []bool) int64 {
	base := start >> shift
	counts := make([]int64, (start+l.end)>>shift-base+1)
	most := int64(0)
	for id, due := range l.last {
		if gone[id] {
			continue
		}
		slot := (start+int64(due))>>shift - base
		counts[slot]++
		most = max(most, counts[slot])
	}
	return most
}
