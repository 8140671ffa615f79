package wheel

import "math/bits"

// slotBits is the shape New uses: 1<<slotBits slots in a ring. Eight bits make a level one byte of
// the tick: wide enough that a timer a day ahead moves three times, narrow enough that the slots
// of all levels stay in the second-level cache.
const slotBits = 8

// tickBits is how many bits a Tick that is not negative can have.
const tickBits = 63

// shape is the arithmetic of the wheel, free of any state. The words it speaks:
//
//	slot   a span of 1<<shift(level) ticks; the slot numbered n holds the ticks n<<shift onward
//	block  a ring of slots; a block of a level is exactly one slot of the level above
//	index  a slot's place in the wheel's array: two rings per level, even blocks and odd blocks
type shape struct {
	slotBits uint
	levels   int
	// levelOf maps the bit length of a distance to the lowest level whose block is longer than it.
	levelOf [tickBits + 1]uint8
}

// newShape makes the shape with 1<<slotBits slots per ring and as many levels as it takes to reach
// every Tick, so that no tick is out of range.
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

// position is a slot's place in the two rings of its level. The lowest bit of the block's number
// chooses the ring, so blocks that follow one another never share one.
func (s *shape) position(number uint64) uint { return uint(number) & (s.ringSlots() - 1) }

// levelFor is the lowest level whose current or next block holds at. It needs 0 <= now <= at.
//
// The level follows from the distance, but for one case: a block one size smaller may hold at as
// well, when it is the next block. Two sizes smaller cannot: its two blocks are too short together.
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
