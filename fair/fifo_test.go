package fair

import "testing"

// TestFilterFreesMemory: what a burst took is freed when most of it is filtered out, and the rest keeps its order.
func TestFilterFreesMemory(t *testing.T) {
	var f FIFO[int]
	for i := range 16 * spareMax {
		f.Push(i)
	}
	f.Pop()
	f.filter(func(i int) bool { return i%1000 == 0 })
	if c := cap(f.items); c > spareMax {
		t.Errorf("%d items have room for %d", f.Len(), c)
	}
	for want := 1000; f.Len() > 0; want += 1000 {
		if got := f.Pop(); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	}
}
