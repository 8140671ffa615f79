package wheel

import "math/bits"

// occupancyBits is how many slots an occupancy can mark: the two rings of the widest shape.
const occupancyBits = 2 << slotBits

// occupancy is a bitmap of two levels that marks which slots of a wheel level hold timers. It finds the
// next marked slot with two bit scans, however many empty slots lie between. The zero value marks none.
//
// Invariant: bit i of summary is set if and only if words[i] is not zero.
type occupancy struct {
	words   [occupancyBits / 64]uint64
	summary uint64
}

// empty reports whether no slot is marked.
func (o *occupancy) empty() bool { return o.summary == 0 }

// has reports whether the slot at position is marked.
func (o *occupancy) has(position uint) bool {
	return o.words[position/64]&(1<<(position%64)) != 0
}

// set marks the slot at position.
func (o *occupancy) set(position uint) {
	o.words[position/64] |= 1 << (position % 64)
	o.summary |= 1 << (position / 64)
}

// clear unmarks the slot at position.
func (o *occupancy) clear(position uint) {
	word := &o.words[position/64]
	*word &^= 1 << (position % 64)
	if *word == 0 {
		o.summary &^= 1 << (position / 64)
	}
}

// next returns the first marked position at or after from. The search wraps round to position 0 once, so
// a result below from lies in the following round. At least one position must be marked. The word of from
// is read twice at most: from that position on, and after the wrap as a whole.
func (o *occupancy) next(from uint) uint {
	word := from / 64
	if rest := o.words[word] >> (from % 64); rest != 0 {
		return from + uint(bits.TrailingZeros64(rest))
	}
	later := o.summary &^ (2<<word - 1)
	if later == 0 {
		later = o.summary
	}
	word = uint(bits.TrailingZeros64(later))
	return word*64 + uint(bits.TrailingZeros64(o.words[word]))
}
