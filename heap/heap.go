// Package heap is a binary heap of items that know their place in it, so that an item can be moved or removed from the middle.
// It does what container/heap does, in the same order, without the boxing of values in interfaces.
package heap

// Item is what a heap can order.
type Item[T any] interface {
	// Before reports whether the item must leave before another one. It is a strict weak order.
	Before(T) bool
	// SetIndex is called whenever the item's index in its heap changes; -1 means that it has left. An item that is
	// never moved or removed from the middle may ignore it.
	SetIndex(int)
}

// Heap holds items, the first one at index 0. The zero value is empty and ready for use. It is not safe for concurrent use.
//
// Invariant: no item is before its parent, which for the item at i is the one at (i-1)/2.
type Heap[T Item[T]] []T

// Push adds an item.
func (h *Heap[T]) Push(item T) {
	*h = append(*h, item)
	h.up(len(*h) - 1)
}

// Pop removes and returns the first item. The heap must not be empty.
func (h *Heap[T]) Pop() T { return h.Remove(0) }

// Remove removes and returns the item at index i, which must exist.
func (h *Heap[T]) Remove(i int) T {
	s := *h
	item, last := s[i], len(s)-1
	s[i] = s[last]
	var none T
	s[last] = none
	*h = s[:last]
	if i < last {
		h.Fix(i)
	}
	item.SetIndex(-1)
	return item
}

// Fix restores the order after the item at index i has changed its own. The item must exist.
func (h *Heap[T]) Fix(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

// up moves the item at i towards the first place, as far as it is before others, and sets its index.
func (h *Heap[T]) up(i int) {
	s := *h
	item := s[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !item.Before(s[parent]) {
			break
		}
		s[i] = s[parent]
		s[i].SetIndex(i)
		i = parent
	}
	s[i] = item
	item.SetIndex(i)
}

// down moves the item at i away from the first place, as far as others are before it, and reports whether it moved. Only then
// does it set the item's index.
func (h *Heap[T]) down(i int) bool {
	s := *h
	item, began := s[i], i
	for child := 2*i + 1; child < len(s); child = 2*i + 1 {
		if right := child + 1; right < len(s) && s[right].Before(s[child]) {
			child = right
		}
		if !s[child].Before(item) {
			break
		}
		s[i] = s[child]
		s[i].SetIndex(i)
		i = child
	}
	if i == began {
		return false
	}
	s[i] = item
	item.SetIndex(i)
	return true
}
