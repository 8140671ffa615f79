package wheel

import "unsafe"

// freeRefs are the references that were given back, on a stack: the last one is taken first, and its
// entry is likely still in the cache. They are kept side by side, and not linked through their entries,
// because a chain of entries is read no faster than one cache miss after the other.
type freeRefs struct {
	slabs []*[slabSlots]Ref
	count uint
}

// push adds a reference.
func (f *freeRefs) push(ref Ref) {
	if f.count>>slabBits == uint(len(f.slabs)) {
		f.slabs = append(f.slabs, new([slabSlots]Ref))
	}
	f.slabs[f.count>>slabBits][f.count%slabSlots] = ref
	f.count++
}

// pop takes the reference that was added last. There must be one.
func (f *freeRefs) pop() Ref {
	f.count--
	return f.slabs[f.count>>slabBits][f.count%slabSlots]
}

// sizeBytes is the memory the stack holds.
func (f *freeRefs) sizeBytes() int64 {
	return int64(len(f.slabs))*int64(unsafe.Sizeof([slabSlots]Ref{})) +
		int64(cap(f.slabs))*int64(unsafe.Sizeof((*[slabSlots]Ref)(nil)))
}
