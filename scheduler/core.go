package scheduler

import (
	"fmt"
	"time"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// Core is the engine as a value machine: rows in memory, a wheel, and Step. It opens nothing, starts
// nothing, reads no clock and no random source; the same inputs give the same outputs. Not safe for
// concurrent use.
//
// Invariant: for every job, each tick before its cursor is decided, and no tick at or after it is.
// Invariant: a job is armed exactly if it is active (at its cursor) or completed (to be reaped). It is on
// the wheel then, or due and in the backlog.
// Invariant: every run in live has a row in the store, and no other run has one.
type Core struct {
	settings Settings
	now      job.Millis // of the step going on
	lsn      uint64     // of the commit going on
	room     int        // runs that this step may still let go live

	decisionsMax int // of a step; a field so that tests can do with few

	rows     table
	names    nameIndex
	profiles profiles
	wheel    *wheel.Wheel

	live    map[job.RunID]liveRun
	retries map[job.RunID]*job.Run // what a live run's earlier attempts left
	onces   onceMemory
	ahead   aheadMemory

	nextID    job.ID
	epoch     uint64
	fenceMin  uint64 // LSN of the commit that began the epoch: no attempt has a lower fence
	prunedDay uint32 // buckets of the history before it are gone

	backlog    fair.Queue[tenantHash, backlogEntry]
	backlogged int       // jobs in the backlog
	ticket     wheel.Ref // given out last

	due     []slot // scratch
	out     Output
	counts  Counts
	reaping int // completed jobs that are armed
}

// Settings are the constants of an engine. They are part of its input: two cores with the same
// settings and the same steps agree.
type Settings struct {
	// Lead is how far ahead of its time a tick is decided, so that the commit is durable when it is
	// due. Larger hides slower commits; smaller makes changes of a schedule take effect sooner.
	Lead time.Duration
	// Grace is how late a tick may be decided and still count as on time; later it is missed.
	Grace time.Duration
	// CompletedRetention is how long a job that completed is kept. 0 is for ever.
	CompletedRetention time.Duration
	// HistoryDays is how many days final runs are kept.
	HistoryDays int
}

// Counts are running totals since the core was made.
type Counts struct {
	Fired, Skipped, Succeeded, Failed, Dead uint64
}

// liveRun is a run without a final outcome.
type liveRun struct {
	slot    slot
	attempt uint32
	fence   uint64
	payload bool // has a payload row
	waits   bool // its job lets only one run go at a time
}

// Names of meta rows.
const (
	metaEpoch     = "epoch"
	metaNextID    = "next_id"
	metaPrunedDay = "pruned_day"
	metaShard     = "shard"
)

// NewCore returns a core without jobs at an instant.
func NewCore(settings Settings, now job.Millis) *Core {
	return &Core{
		settings: settings, decisionsMax: decisionsMax,
		rows:     newTable(),
		profiles: newProfiles(),
		wheel:    wheel.New(wheel.Tick(now)),
		live:     make(map[job.RunID]liveRun),
		retries:  make(map[job.RunID]*job.Run),
		onces:    newOnceMemory(),
		ahead:    newAheadMemory(),
		backlog:  fair.NewQueue[tenantHash, backlogEntry](decideQuantum),
		nextID:   1,
	}
}

// Step settles proposals and outcomes and decides the ticks that come due within the lead. The
// output is the core's and good until the next step.
func (c *Core) Step(in Input) *Output {
	c.begin(in)
	firstID := c.nextID
	for _, p := range in.Proposals {
		c.settle(p)
	}
	for _, o := range in.Outcomes {
		if c.out.Batch.Size() > CommitBytesMax-decisionBytesMax-outcomeBytesMax {
			break
		}
		c.conclude(o)
		c.out.OutcomesTaken++
	}
	c.decideDue()
	c.prune()
	if c.nextID != firstID {
		c.out.Batch.PutMeta(metaNextID, uint64(c.nextID))
	}
	c.out.WakeAt = c.wakeAt()
	return &c.out
}

func (c *Core) begin(in Input) {
	c.now, c.lsn, c.room = in.Now, in.LSN, in.Room
	c.out.reset()
	c.onces.forget(in.LSN)
	c.ahead.forget(in.Now)
}

// settle is a flat switch over the kinds of proposal.
func (c *Core) settle(p Proposal) {
	switch p := p.(type) {
	case *Put:
		c.put(p)
	case *Delete:
		c.remove(p)
	case *Pause:
		c.pause(p)
	case *Trigger:
		c.trigger(p)
	case *Backfill:
		c.backfill(p)
	case *Barrier:
	default:
		panic(fmt.Sprintf("scheduler: unknown proposal %T", p))
	}
	c.out.Replies = append(c.out.Replies, p)
}

// Find returns the job of a name.
func (c *Core) find(h nameHash) (slot, *hotRow) {
	s := c.names.find(h)
	if s == 0 {
		return 0, nil
	}
	return s, c.rows.row(s)
}

// arm puts the job of a row on the wheel: at its cursor while it is active, at the end of its
// retention when it is completed, and not at all otherwise.
func (c *Core) arm(s slot, r *hotRow) {
	completed := r.flags.Is(job.FlagCompleted)
	if r.flags.Is(job.FlagFailed) || r.flags.Is(job.FlagPaused) && !completed || completed && c.settings.CompletedRetention == 0 {
		c.disarm(r)
		return
	}
	at := r.cursor
	if completed {
		at = max(r.cursor, r.last, c.now).Add(c.settings.CompletedRetention)
	}
	c.setReaping(r, completed)
	c.delist(r)
	if r.timer == 0 || !c.wheel.Rearm(r.timer, wheel.Tick(at)) {
		r.timer = c.wheel.Arm(uint64(s), wheel.Tick(at))
	}
}

func (c *Core) disarm(r *hotRow) {
	c.setReaping(r, false)
	c.delist(r)
	if r.timer != 0 {
		c.wheel.Cancel(r.timer)
		r.timer = 0
	}
}

// setReaping keeps count of the timers that are no ticks.
func (c *Core) setReaping(r *hotRow, reaping bool) {
	if r.marks.is(markReaping) == reaping {
		return
	}
	if r.marks ^= markReaping; reaping {
		c.reaping++
	} else {
		c.reaping--
	}
}

// Armed returns how many jobs wait for a tick.
func (c *Core) Armed() int { return c.wheel.Len() + c.backlogged - c.reaping }

// prune drops the buckets of the history that are too old, once a day.
func (c *Core) prune() {
	keep := job.Millis(c.settings.HistoryDays) * 24 * 60 * 60 * 1000
	if keep == 0 || c.now <= keep {
		return
	}
	day := job.Day(c.now - keep)
	if day <= c.prunedDay {
		return
	}
	// From the first bucket on: a backfill may have put runs into one that was dropped before.
	c.out.Batch.DeleteRange(job.AppendBucket(nil, job.KindHistory, 0), job.AppendBucket(nil, job.KindHistory, day))
	c.out.Batch.DeleteRange(job.AppendBucket(nil, job.KindOnce, 0), job.AppendBucket(nil, job.KindOnce, job.Day(c.now)-onceDays))
	c.out.Batch.PutMeta(metaPrunedDay, uint64(day))
	c.prunedDay = day
}

// wakeAt returns when the wheel has something for the next step: long ago, if the backlog has.
func (c *Core) wakeAt() job.Millis {
	if c.backlog.Len() > 0 {
		return 1
	}
	next, ok := c.wheel.Next()
	if !ok {
		return 0
	}
	return max(job.Millis(next).Add(-c.settings.Lead), 1)
}
