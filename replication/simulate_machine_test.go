package replication

import "time"

// machine is a computer with a clock and a disk, on which a process lives from time to time. With one shard the process is a
// simNode alone; of a cluster with several shards it has a host, and a simNode for each shard that it holds.
type machine struct {
	ground *ground
	index  int
	name   string

	rate   float64 // rate of its clock
	origin time.Duration

	linked      bool // connected to the servers
	island      int  // those of one island, above 0, reach each other although they are not linked
	muted       bool // its connection is broken and neither side notices
	lag         time.Duration
	paused      time.Duration // how long its processes were suspended in all
	watchDelay  time.Duration
	pausedUntil time.Duration
	waiting     []func() // what goes on once its processes are not suspended any more

	weight  uint32
	zone    string
	life    int // number of processes so far
	tasks   []*task
	died    time.Duration // when its last process ended
	orderly bool          // in order
	barred  bool          // none starts
	members []*simNode    // one for each shard, whether it holds a copy or not
	process *process      // of a cluster of which all shards are simulated; nil: none lives
	lease   *hostLease    // of the process, in a cluster with several shards
	first   []keyState    // what its watch shows first
	fed     int           // states of the keys that its watch has shown after that
	shown   uint64        // newest revision that its watch has shown
}

func newMachine(g *ground, index int) *machine {
	m := &machine{
		ground: g, index: index, name: string(rune('a' + index)), linked: true,
		rate: 1 + (g.rng.Float64()*2-1)*500e-6, origin: g.between(time.Second, 1000*time.Hour),
		watchDelay: g.between(time.Millisecond, 50*time.Millisecond),
	}
	g.machines = append(g.machines, m)
	return m
}

// boot is the clock of the machine.
func (m *machine) boot() time.Duration {
	return m.origin + time.Duration(float64(m.ground.now)*m.rate)
}

// meets reports whether a machine is connected to another one, as far as there is no cut between them.
func (m *machine) meets(o *machine) bool {
	return m.linked && o.linked || m.island != 0 && m.island == o.island
}

// split cuts two machines off from the servers that have the streams and the bucket, with a server that has lost the others: they
// reach each other.
func (g *ground) split(d time.Duration) {
	a := g.machines[g.rng.IntN(len(g.machines))]
	b := g.machines[(a.index+1+g.rng.IntN(len(g.machines)-1))%len(g.machines)]
	if !a.linked || !b.linked {
		return
	}
	g.saw("split off together", uint64(a.index), uint64(b.index))
	g.islands++
	island := g.islands
	for _, m := range []*machine{a, b} {
		m.linked, m.muted, m.island = false, true, island
		g.after(d, func() { m.join(island) })
	}
}

// join ends a split.
func (m *machine) join(island int) {
	if m.island == island {
		m.linked, m.muted, m.island = true, false, 0
	}
}

// still reports whether its processes are suspended.
func (m *machine) still() bool { return m.pausedUntil > m.ground.now }

// suspend suspends its processes for a time.
func (m *machine) suspend(d time.Duration) {
	m.pausedUntil = m.ground.now + d
	m.paused += d
	m.ground.after(d, m.wake)
}

// wakeNow ends a suspension before its time.
func (m *machine) wakeNow() {
	m.pausedUntil = min(m.pausedUntil, m.ground.now)
	m.wake()
}

// awake calls a function once the processes are not suspended any more.
func (m *machine) awake(do func()) { m.waiting = append(m.waiting, do) }

// wake lets go on what waits for the end of a suspension, unless another one has begun.
func (m *machine) wake() {
	if m.still() {
		return
	}
	waiting := m.waiting
	m.waiting = nil
	for _, do := range waiting {
		m.ground.after(0, do)
	}
}
