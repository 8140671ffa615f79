package fair

// sparesMax bounds the empty lines that are kept for reuse, so that a steady load allocates nothing. Each may
// keep a slice of spareMax items, and a longer one if Filter has emptied it.
const sparesMax = 64

// Queue holds the items of several parties. Items of one party leave in the order in which they came;
// the parties take turns. Every call except Filter takes constant time, however many parties there are
// or were. Use NewQueue.
//
// A party without items has no line, so a queue can serve tenants by the million of which few have work at a
// time.
//
// Invariant: a party has a line in byParty and in turns exactly while it has items.
//
// Invariant: taken is below quantum, and count is the sum of the lengths of all lines.
type Queue[P comparable, T any] struct {
	quantum int // number of items in a turn
	byParty map[P]*line[P, T]
	turns   FIFO[*line[P, T]] // the parties with items; it is the turn of the front
	taken   int               // items popped in this turn
	count   int               // items of all parties
	spare   []*line[P, T]     // empty lines for reuse, at most sparesMax
}

// line holds the items of one party.
type line[P comparable, T any] struct {
	party P
	items FIFO[T]
}

// NewQueue returns an empty queue with turns of quantum items, at least one. A larger quantum keeps the
// items of a party together; a smaller one shortens the wait of the others.
func NewQueue[P comparable, T any](quantum int) Queue[P, T] {
	return Queue[P, T]{quantum: max(1, quantum), byParty: make(map[P]*line[P, T])}
}

// Len returns the number of items.
func (q *Queue[P, T]) Len() int { return q.count }

// Push adds an item after the other items of its party. A party that had none gets its turn after all others
// that are waiting, even if its last turn was not used up: it gains nothing by leaving and coming back.
func (q *Queue[P, T]) Push(party P, item T) {
	l := q.byParty[party]
	if l == nil {
		l = q.open(party)
	}
	l.items.Push(item)
	q.count++
}

// Pop removes and returns the next item of the party whose turn it is. It returns false if the queue is
// empty.
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

// Parties returns the number of parties that have items.
func (q *Queue[P, T]) Parties() int { return len(q.byParty) }

// Pass ends the turn of a party, if it is its turn. A caller that cannot use an item of the party pushes it back and
// passes on to the next party.
func (q *Queue[P, T]) Pass(party P) {
	if q.count == 0 || q.turns.Front().party != party {
		return
	}
	q.taken = 0
	q.turns.Push(q.turns.Pop())
}

// Filter removes the items for which keep returns false. The others keep their order, and the present
// turn begins anew. It visits every item.
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

// open adds a line for a party that has none, at the end of the turns.
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

// lineUp puts a line that is not in turns at their end, or removes it if it is empty.
func (q *Queue[P, T]) lineUp(l *line[P, T]) {
	if l.items.Len() > 0 {
		q.turns.Push(l)
		return
	}
	delete(q.byParty, l.party)
	if len(q.spare) < sparesMax {
		var none P
		l.party = none // a spare line must not keep the name of a tenant alive
		q.spare = append(q.spare, l)
	}
}
