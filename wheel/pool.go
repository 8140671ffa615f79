package wheel

import (
	"fmt"
	"math"
	"unsafe"
)

const (
	// slabBits sets the slab to 8,192 timers and 208 KiB: small enough that taking one is no
	// pause, large enough that ten million timers are 1,221 pointers to the collector.
	slabBits  = 13
	slabSlots = 1 << slabBits

	// timersMax leaves out the reference 0, which means none, and the last one, so that the
	// number of timers, too, fits in 32 bits.
	timersMax = math.MaxUint32 - 1

	// notArmed stands in place of a slot index for a reference that has no timer.
	notArmed = math.MaxUint16
)

// entry is one timer. It holds no pointers, so the collector never looks inside a slab.
type entry struct {
	id   uint64
	at   Tick
	prev Ref // towards the head of the slot; 0 at the head
	next Ref // towards the tail of the slot; 0 at the end
}

// slab is a fixed run of timers. It is never moved nor given back, so growth copies no timers.
type slab struct {
	entries [slabSlots]entry
	slots   [slabSlots]uint16 // the index of the slot each entry is in, or notArmed
}

// pool hands out entries by reference and takes them back.
//
// Invariant: references 1 to used are armed, or free with notArmed for a slot.
type pool struct {
	slabs []*slab
	used  Ref // the highest reference ever handed out
	free  freeRefs
}

// newPool makes a pool with its first slab, in which reference 0 is set aside.
func newPool() pool {
	first := new(slab)
	first.slots[0] = notArmed
	return pool{slabs: []*slab{first}}
}

// entry is the timer behind a reference that was handed out.
func (p *pool) entry(ref Ref) *entry {
	return &p.slabs[ref>>slabBits].entries[ref%slabSlots]
}

// slotOf is where the slot index of a reference that was handed out is kept.
func (p *pool) slotOf(ref Ref) *uint16 {
	return &p.slabs[ref>>slabBits].slots[ref%slabSlots]
}

// armed reports whether a timer is behind the reference now, whatever its value.
func (p *pool) armed(ref Ref) bool {
	return ref <= p.used && *p.slotOf(ref) != notArmed
}

// take hands out a reference. The caller sets the entry and its slot.
func (p *pool) take() Ref {
	if p.free.count > 0 {
		return p.free.pop()
	}
	if p.used == timersMax {
		panic(fmt.Sprintf("wheel: more than %d timers", uint64(timersMax)))
	}
	p.used++
	if int(p.used>>slabBits) == len(p.slabs) {
		p.slabs = append(p.slabs, new(slab))
	}
	return p.used
}

// release takes a reference back. Its entry must be in no slot any more.
func (p *pool) release(ref Ref) {
	*p.slotOf(ref) = notArmed
	p.free.push(ref)
}

// sizeBytes is the memory the pool holds.
func (p *pool) sizeBytes() int64 {
	return int64(len(p.slabs))*int64(unsafe.Sizeof(slab{})) +
		int64(cap(p.slabs))*int64(unsafe.Sizeof((*slab)(nil))) + p.free.sizeBytes()
}
