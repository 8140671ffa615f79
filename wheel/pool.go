package wheel

import (
	"fmt"
	"math"
	"unsafe"
)

const (
	// slabBits sets the slab to 8,192 timers and 208 KiB: small enough that allocating a slab causes no
	// pause, large enough that ten million timers are only 1,221 pointers to the garbage collector.
	slabBits  = 13
	slabSlots = 1 << slabBits

	// timersMax excludes reference 0, which means no timer, and the highest reference, so that the
	// number of timers fits in 32 bits as well.
	timersMax = math.MaxUint32 - 1

	// notArmed replaces the slot index of a reference that has no timer.
	notArmed = math.MaxUint16
)

// entry is one timer. It holds no pointers, so the collector never looks inside a slab. The links are
// references of four bytes and not pointers of eight, which also keeps an entry at 24 bytes.
type entry struct {
	id   uint64
	at   Tick
	prev Ref // towards the head of the slot; 0 at the head
	next Ref // towards the tail of the slot; 0 at the end
}

// slab is a fixed array of timers. It is never moved and never freed, so growth copies no timers. The
// slot indexes have an array of their own: inside entry they would cost eight bytes each, with padding.
type slab struct {
	entries [slabSlots]entry
	slots   [slabSlots]uint16 // the index of the slot each entry is in, or notArmed
}

// pool allocates entries and addresses them by reference. The reference ref is entry ref%slabSlots of
// slab ref/slabSlots.
//
// Invariant: each reference from 1 to used either is armed, and slotOf gives its slot, or is in free,
// and slotOf gives notArmed.
type pool struct {
	slabs []*slab
	used  Ref // the highest reference ever handed out
	free  freeRefs
}

// newPool returns a pool with its first slab. Reference 0, which means no timer, is never handed out.
func newPool() pool {
	first := new(slab)
	first.slots[0] = notArmed
	return pool{slabs: []*slab{first}}
}

// entry returns the timer of a reference that was handed out. The pointer stays valid, because slabs
// never move.
func (p *pool) entry(ref Ref) *entry {
	return &p.slabs[ref>>slabBits].entries[ref%slabSlots]
}

// slotOf returns the place that holds the slot index of a reference that was handed out.
func (p *pool) slotOf(ref Ref) *uint16 {
	return &p.slabs[ref>>slabBits].slots[ref%slabSlots]
}

// armed reports whether the reference has a timer now. It accepts every value, including one that was
// never handed out.
func (p *pool) armed(ref Ref) bool {
	return ref <= p.used && *p.slotOf(ref) != notArmed
}

// take returns a reference that is free. The caller sets its entry and its slot. It panics if timersMax
// references are in use.
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

// release makes a reference free for reuse. The caller must have unlinked its entry from its slot.
func (p *pool) release(ref Ref) {
	*p.slotOf(ref) = notArmed
	p.free.push(ref)
}

// sizeBytes returns the memory the pool holds, in bytes.
func (p *pool) sizeBytes() int64 {
	return int64(len(p.slabs))*int64(unsafe.Sizeof(slab{})) +
		int64(cap(p.slabs))*int64(unsafe.Sizeof((*slab)(nil))) + p.free.sizeBytes()
}
