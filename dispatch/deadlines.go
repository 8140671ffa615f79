package dispatch

// deadlines is a heap of attempts by deadline, the earliest first, for container/heap. Swap maintains
// attempt.place, so that an attempt can be removed from the middle.
type deadlines []*attempt

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].deadline < d[j].deadline }

func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

// Push implements [heap.Interface].
func (d *deadlines) Push(x any) {
	a := x.(*attempt)
	a.place = len(*d)
	*d = append(*d, a)
}

// Pop implements [heap.Interface].
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	a := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return a
}
