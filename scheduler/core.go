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
// the wheel then, or due and in a line: in the backlog, in that of its tenant's share, or in that of what is to be
// deleted.
// Invariant: every run in live has a row in the store, and no other run has one.
type Core struct {
	settings Settings
	now      job.Millis // of the step going on
	lsn      uint64     // of the commit going on
	room     int        // runs that this step may still let go live
	upto     int        // size of the step at which the part of it going on ends
	unitAt   job.Mark   // where the unit going on begins
	keptID   job.ID     // nextID as the log has it

	misjudged int // units that were larger than they said, and moved to the next commit

	decisionsMax int // of a step; a field so that tests can do with few
	commitMax    int // bytes of a commit; a field so that tests can do with few

	hash     nameHashFunc
	rows     table
	ids      *jobIndex // only while it follows a leader
	names    nameIndex
	profiles profiles
	wheel    *wheel.Wheel

	live    map[job.RunID]liveRun
	retries map[job.RunID]*job.Run // what is known of a live run beyond its liveRun
	watches watches
	streaks map[job.ID]uint32
	onces   recentMemory[onceKey, job.RunID]
	redone  recentMemory[job.RunID, uint64] // runs that were retried by hand, and the LSN

	overAhead recentMemory[job.ID, uint64] // jobs of which a run ended before its tick, and the LSN
	asked     map[job.ID]struct{}          // jobs whose launches an update of this step has asked for
	shares    liveShares

	nextID    job.ID
	led       job.Millis // when it began to lead
	presence  presence   // when it led
	epoch     uint64
	fenceMin  uint64 // LSN of the commit that began the epoch: no attempt has a lower fence
	prunedDay uint32 // buckets of the history before it are gone

	backlog    fair.Queue[tenantHash, backlogEntry] // due now
	late       fair.Queue[tenantHash, backlogEntry] // due long ago
	shared     waitingLines                         // due, and waiting for the share of their tenant
	backlogged int                                  // jobs in any of them
	backlogDue job.Millis                           // when a job in backlog was due, about the first
	ticket     wheel.Ref                            // given out last
	debts      debts
	replanning bool   // jobs have still to follow their schedules, as the store had it before the core led
	changes    uint64 // of schedules under their jobs, counted
	followed   uint64 // changes before the pass of replanning that is going on
	zones      zoneMemory
	calendars  map[string]*job.Calendar // by reference
	pace       pace

	doomed    struct{ tenant, name string } // the job that is being deleted
	outbox    int                           // notices in the store
	noticeSeq uint32                        // of the commit going on
	auditSeq  uint32                        // of the commit going on

	due     []slot       // scratch
	expired []uint32     // watches whose deadlines have passed; the step that has room ends their attempts
	ticks   []job.Millis // scratch
	out     Output
	counts  Counts
	reaping int // completed jobs that are armed, or retired

	retirement retirement
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
	// HistoryDays is how many days final runs and the audit log are kept.
	HistoryDays int
	// ManualMax is how many runs of one tenant that callers started may be live: a trigger, a backfill or a
	// retry by hand beyond it is refused. 0 is 100,000. No more than half of all live runs are such.
	ManualMax int
	// CatchupRate is how many runs a second are spent on ticks that were missed. 0 is twice the usual
	// rate of runs, between catchupRateMin and catchupRateMax.
	CatchupRate int
	// Zones are the rules of timezones. Nil: those in the binary.
	Zones *job.Zones
	// DeadLetters lets dead runs be published, Events every change of a run's state. An engine without
	// an Announcer does neither.
	DeadLetters, Events bool
}

// Counts are running totals since the core was made.
type Counts struct {
	Fired, Skipped, Succeeded, Failed, Dead uint64

	Cancelled, Retried, Stale uint64
	SkippedBy                 [job.Reasons]uint64 // a range counts once
	NoticesLost               uint64
}

// liveRun is a run without a final outcome.
type liveRun struct {
	slot    slot
	attempt uint32
	fence   uint64
	due     job.Millis // of the first attempt
	paidAt  job.Millis // when the pace of catching up let the run go; 0: it was not caught up on
	watch   uint32     // index of its deadline: it waits for a report; 0: it does not
	tenant  tenantHash // of its job
	byHand  bool       // a caller started it, or let it begin again
	payload bool       // has a payload row
	waits   bool       // its job lets only so many runs go at a time
}

// Names of meta rows.
const (
	metaEpoch     = "epoch"
	metaNextID    = "next_id"
	metaPrunedDay = "pruned_day"
	metaUsualRate = "usual_rate"
	metaShard     = "shard"
)

// NewCore returns a core without jobs at an instant.
func NewCore(settings Settings, now job.Millis) *Core {
	setDefault(&settings.Zones, job.EmbeddedZones())
	setDefault(&settings.ManualMax, manualMaxDefault)
	return &Core{
		settings: settings, decisionsMax: decisionsMax, commitMax: CommitBytesMax, now: now,
		rows:      newTable(),
		profiles:  newProfiles(settings.Zones),
		wheel:     wheel.New(wheel.Tick(now)),
		live:      make(map[job.RunID]liveRun),
		retries:   make(map[job.RunID]*job.Run),
		streaks:   make(map[job.ID]uint32),
		onces:     newRecentMemory[onceKey, job.RunID](),
		redone:    newRecentMemory[job.RunID, uint64](),
		overAhead: newRecentMemory[job.ID, uint64](),
		asked:     make(map[job.ID]struct{}),
		shares:    liveShares{by: make(map[tenantHash]liveShare)},
		shared:    newWaitingLines(),
		presence:  newPresence(now),
		backlog:   fair.NewQueue[tenantHash, backlogEntry](decideQuantum),
		late:      fair.NewQueue[tenantHash, backlogEntry](decideQuantum),
		debts:     newDebts(), calendars: make(map[string]*job.Calendar),
		zones:  newZoneMemory(settings.Zones),
		pace:   newPace(settings.CatchupRate, now),
		nextID: 1,
	}
}

// Step settles proposals and outcomes and decides the ticks that come due within the lead. The
// output is the core's and good until the next step.
func (c *Core) Step(in Input) *Output {
	c.begin(in)
	c.concludeAll(in)
	c.settleAll(in.Proposals)
	c.decideDue()
	c.askToReap()
	c.keepPace()
	c.prune()
	c.endUnit()
	c.keepNextID()
	c.withhold(in.Proposals[c.out.ProposalsTaken:])
	c.out.WakeAt = c.wakeAt()
	return &c.out
}

func (c *Core) begin(in Input) {
	c.presence.attend(in.Now, c.now, c.out.WakeAt, job.Millis(c.settings.Lead.Milliseconds()), c.graceMillis())
	c.now, c.lsn, c.room = in.Now, in.LSN, in.Room
	c.noticeSeq, c.auditSeq = 0, 0
	c.unitAt, c.keptID = job.Mark{}, c.nextID
	c.out.reset()
	c.profiles.meter.spent = 0
	clear(c.asked)
	c.onces.forget(in.LSN)
	c.redone.forget(in.LSN)
	c.overAhead.forget(in.LSN)
}

// concludeAll takes in the outcomes, before the proposals: so a worker's report finds the run delivered.
// They may fill what the proposals and the decisions leave of the commit.
func (c *Core) concludeAll(in Input) {
	c.shareOfOutcomes(in.Proposals)
	for _, o := range in.Outcomes {
		if !c.more() {
			return
		}
		c.unit(c.endingBytes(o.Run) + 3*len(o.Error) + len(o.Result))
		c.conclude(o)
		c.out.OutcomesTaken++
	}
}

// settleAll settles proposals, as many as fit the step, and the first in any case.
func (c *Core) settleAll(list []Proposal) {
	c.shareOfProposals()
	for i, p := range list {
		if i > 0 && !c.more() {
			return
		}
		c.unit(p.bytes())
		if !c.settle(p) {
			return
		}
		c.out.Replies = append(c.out.Replies, p)
		c.out.ProposalsTaken++
	}
}

// withhold gives the launches of this step to the proposals that go on in the next, if those have withdrawn
// earlier ones of the same job: a job's launches leave in their order.
func (c *Core) withhold(rest []Proposal) {
	for _, p := range rest {
		w, ok := p.(withdrawer)
		if !ok || len(*w.withdrawn()) == 0 {
			continue
		}
		c.holdBack(w, (*w.withdrawn())[0].Run.Job)
	}
}

// settle is a flat switch over the kinds of proposal. It returns false for one that goes on in the next step.
func (c *Core) settle(p Proposal) bool {
	switch p := p.(type) {
	case *Put:
		return c.put(p)
	case *Delete:
		return c.remove(p)
	case *Pause:
		return c.pause(p)
	case *Trigger:
		c.trigger(p)
	case *Backfill:
		c.backfill(p)
	case *Report:
		c.report(p)
	case *Extend:
		c.extend(p)
	case *CancelRun:
		c.cancelRun(p)
	case *RetryRun:
		c.retryRun(p)
	case *Published:
		c.published(p)
	case *PutCalendar:
		c.putCalendar(p)
	case *DeleteCalendar:
		c.deleteCalendar(p)
	case *Replan:
		c.replan(p)
	case *ReapJobs:
		c.reapJobs(p)
	case *Barrier:
	default:
		panic(fmt.Sprintf("scheduler: unknown proposal %T", p))
	}
	return true
}

// Find returns the job of a name.
func (c *Core) find(h nameHash) (slot, *hotRow) {
	s := c.names.find(h)
	if s == 0 {
		return 0, nil
	}
	return s, c.rows.row(s)
}
