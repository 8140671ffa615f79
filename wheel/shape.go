package wheel

import "math/bits"

// slotBits is the width that New uses: a ring has 1<<slotBits slots. With eight bits, each level covers
// one byte of the tick: wide enough that a timer a day ahead moves only three times, narrow enough that
// the slots of all levels fit in the second-level cache.
const slotBits = 8

// tickBits is the number of bits of the largest Tick, which is a non-negative int64.
const tickBits = 63

// shape holds the arithmetic of the wheel: which slot of which level covers a tick. It has no state. Its
// terms:
//
//	slot   a span of 1<<shift(level) ticks; the slot numbered n holds the ticks n<<shift onward
//	block  the ticks that one ring covers; a block of a level is exactly one slot of the level above
//	index  a slot's place in the wheel's array: two rings per level, even blocks and odd blocks
type shape struct {
	slotBits uint
	levels   int
	// levelOf maps the bit length of a distance in ticks to the lowest level whose block is longer than
	// every distance of that bit length.
	levelOf [tickBits + 1]uint8
}

// newShape returns the shape with 1<<slotBits slots per ring and enough levels to cover every Tick, so
// that no tick is out of range.
func newShape(slotBits uint) shape {
	s := shape{slotBits: slotBits, levels: int((tickBits + slotBits - 1) / slotBits)}
	for length := range s.levelOf {
		s.levelOf[length] = uint8(uint(max(length, 1)-1) / slotBits)
	}
	return s
}

// shift is the binary logarithm of the number of ticks in a slot of the level.
func (s *shape) shift(level int) uint { return uint(level) * s.slotBits }

// slotNumber is the number of the slot of the level that holds the tick.
func (s *shape) slotNumber(level int, at Tick) uint64 { return uint64(at) >> s.shift(level) }

// start is the first tick of the slot with that number.
func (s *shape) start(level int, number uint64) Tick { return Tick(number << s.shift(level)) }

// ringSlots is the number of slots in the two rings of a level.
func (s *shape) ringSlots() uint { return 2 << s.slotBits }

// position is a slot's place in the two rings of its level. The lowest bit of the block's number selects
// the ring, so two consecutive blocks never share a ring.
func (s *shape) position(number uint64) uint { return uint(number) & (s.ringSlots() - 1) }

// levelFor returns the lowest level whose current or next block holds at. It requires 0 <= now <= at.
//
// The distance determines the level, with one exception: the next block of the level below may hold at
// as well. The level two below cannot hold it: its current and next block together are shorter than the
// distance.
func (s *shape) levelFor(now, at Tick) int {
	level := int(s.levelOf[bits.Len64(uint64(at-now))])
	if level > 0 && s.slotNumber(level, at)-s.slotNumber(level, now) <= 1 {
		level--
	}
	return level
}

// slotFor is the index of the slot of the level that holds at.
func (s *shape) slotFor(level int, at Tick) uint {
	return uint(level)<<(s.slotBits+1) | s.position(s.slotNumber(level, at))
}

// levelOfSlot is the level a slot index belongs to.
func (s *shape) levelOfSlot(index uint) int { return int(index >> (s.slotBits + 1)) }
