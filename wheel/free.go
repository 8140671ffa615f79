package wheel

import "unsafe"

// freeRefs is a stack of the references that are free for reuse. The reference freed last is reused
// first, because its entry is likely still in the cache. The references are stored side by side rather
// than linked through their entries: following such a chain costs one cache miss after another, which no
// prefetch can overlap.
//
// Invariant: slabs is long enough for count references and never shrinks, so a wheel that empties and
// fills again allocates nothing.
type freeRefs struct {
	slabs []*[slabSlots]Ref
	count uint // references on the stack
}

// push adds a reference.
func (f *freeRefs) push(ref Ref) {
	if f.count>>slabBits == uint(len(f.slabs)) {
		f.slabs = append(f.slabs, new([slabSlots]Ref))
	}
	f.slabs[f.count>>slabBits][f.count%slabSlots] = ref
	f.count++
}

// pop removes and returns the reference that was pushed last. The stack must not be empty.
func (f *freeRefs) pop() Ref {
	f.count--
	return f.slabs[f.count>>slabBits][f.count%slabSlots]
}

// sizeBytes returns the memory the stack holds, in bytes.
func (f *freeRefs) sizeBytes() int64 {
	return int64(len(f.slabs))*int64(unsafe.Sizeof([slabSlots]Ref{})) +
		int64(cap(f.slabs))*int64(unsafe.Sizeof((*[slabSlots]Ref)(nil)))
}
