package fair

// sparesMax is how many empty lines are kept for reuse: an even load allocates nothing.
const sparesMax = 64

// Queue holds items of parties: those of one in the order they came, the parties by turns. A call takes
// constant time, however many parties there are or were, save Filter. Use NewQueue.
//
// Invariant: a party has a line in byParty and in turns exactly while it has items.
type Queue[P comparable, T any] struct {
	quantum int // how many items a turn has
	byParty map[P]*line[P, T]
	turns   FIFO[*line[P, T]] // the front has its turn
	taken   int               // in this turn
	count   int
	spare   []*line[P, T]
}

// line is what one party has in a queue.
type line[P comparable, T any] struct {
	party P
	items FIFO[T]
}

// NewQueue returns an empty queue in which a party takes so many items in a turn, at least one.
func NewQueue[P comparable, T any](quantum int) Queue[P, T] {
	return Queue[P, T]{quantum: max(1, quantum), byParty: make(map[P]*line[P, T])}
}

// Len returns the number of items.
func (q *Queue[P, T]) Len() int { return q.count }

// Push adds an item behind the others of its party.
func (q *Queue[P, T]) Push(party P, item T) {
	l := q.byParty[party]
	if l == nil {
		l = q.open(party)
	}
	l.items.Push(item)
	q.count++
}

// Pop removes and returns the item whose turn it is, false if there is none.
func (q *Queue[P, T]) Pop() (item T, ok bool) {
	if q.count == 0 {
		return item, false
	}
	l := q.turns.Front()
	item = l.items.Pop()
	q.count--
	q.taken++
	if l.items.Len() == 0 || q.taken == q.quantum {
		q.turns.Pop()
		q.taken = 0
		q.lineUp(l)
	}
	return item, true
}

// Filter removes the items that are not to be kept. What stays keeps its order; turns begin anew.
func (q *Queue[P, T]) Filter(keep func(T) bool) {
	q.taken = 0
	for range q.turns.Len() {
		l := q.turns.Pop()
		before := l.items.Len()
		l.items.filter(keep)
		q.count -= before - l.items.Len()
		q.lineUp(l)
	}
}

func (q *Queue[P, T]) open(party P) *line[P, T] {
	var l *line[P, T]
	if n := len(q.spare); n > 0 {
		l, q.spare = q.spare[n-1], q.spare[:n-1]
	} else {
		l = new(line[P, T])
	}
	l.party = party
	q.byParty[party] = l
	q.turns.Push(l)
	return l
}

// lineUp puts a line that is not in turns at their end, or forgets it if it is empty.
func (q *Queue[P, T]) lineUp(l *line[P, T]) {
	if l.items.Len() > 0 {
		q.turns.Push(l)
		return
	}
	delete(q.byParty, l.party)
	if len(q.spare) < sparesMax {
		var none P
		l.party = none
		q.spare = append(q.spare, l)
	}
}
