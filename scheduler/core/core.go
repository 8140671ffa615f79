package core

import (
	"cmp"
	"fmt"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/wheel"
)

// Core is the engine as a value machine: rows in memory, a wheel, and Step. It does no I/O, starts no goroutine, and
// reads no clock and no random source: equal inputs give equal outputs. That is what makes a takeover exact and a
// simulation repeatable. A Core is not safe for concurrent use.
//
// Invariant: for every job, each tick before its cursor is decided, and no tick at or after it is.
//
// Invariant: a job is armed exactly if it is active (at its cursor) or completed (at the end of its retention). An
// armed job is on the wheel, or it is due and waits in one line: in the backlog, in its tenant's line for a share of
// the live runs, or in the line of jobs to be deleted.
//
// Invariant: every run in live has a row in the store, and no other run without an outcome has one.
type Core struct {
	settings Settings
	now      instant.Millis // of the current step
	lsn      uint64         // of the current commit
	stepLSN  uint64         // of the first commit of the current step
	// room is how many further runs may go live in this step. Each run that ends in the step makes room for another
	// one.
	room   int
	upto   int      // size of the step at which its current part ends
	unitAt job.Mark // where the current unit begins
	// keptID is numbers.next as it is in the log. While they differ, the next commit must write it, so that no crash
	// can give an id to two jobs.
	keptID job.ID

	// misjudged counts the units that were larger than announced, and moved to the next commit. It is 0 as long as the
	// sizes in sizes.go cover what is written.
	misjudged int

	decisionsMax int // of a step; a field so that tests can lower it
	commitMax    int // bytes of a commit; a field so that tests can lower it

	hash func(tenant, name string) NameHash
	text func(text []byte) NameHash
	rows table
	// ids is nil unless the core follows a leader. The leader's rows name jobs by id; callers name them by hash, and
	// runs have the seat of their job, so a core that leads needs no index and saves the memory.
	ids *jobIndex
	// firstSlotted is the first seat of a job whose id carries the slot of its name, while the core is being loaded; 0:
	// none.
	firstSlotted seat
	names        nameIndex
	profiles     profiles
	wheel        *wheel.Wheel

	live map[job.RunID]liveRun
	// retries holds what is known of a live run beyond its liveRun: earlier attempts, a deadline, refused reports.
	// Most runs end at their first attempt and never get an entry, which keeps a herd of live runs small.
	retries map[job.RunID]*job.Run
	watches watches
	streaks map[job.ID]uint32
	// The next three remember what the newest commits decided, for proposers that read the store before those commits.
	onces  recentMemory[onceKey, job.RunID]
	redone recentMemory[job.RunID, uint64] // runs of the history that callers retried or dismissed, and the LSN

	overAhead recentMemory[job.ID, uint64] // jobs with a run that ended before its tick, and the LSN
	// asked holds the jobs with launches that this step asked for, before it decides ticks. They are not on the pad
	// yet, so a later proposal in the same step must find them here: see recall.
	asked map[job.ID]struct{}
	// written holds the newest put of each job whose definition this step has written.
	written map[job.ID]*Put
	// tenants has what each tenant uses, and the live runs by which tenants share the room.
	tenants tenants

	index    listIndex
	numbers  numbering
	led      instant.Millis // when this leadership began
	latest   instant.Millis // the latest time that the clock has shown in this leadership
	presence presence       // when an engine led
	epoch    uint64
	// fenceMin is the LSN of the commit that began the epoch. Every attempt that this leader starts has at least this
	// fence, so a target can refuse an attempt of the same run that an earlier leader started.
	fenceMin  uint64
	prunedDay uint32 // buckets of the history before it are deleted

	backlog    fair.Queue[tenantNo, backlogEntry] // due now
	late       fair.Queue[tenantNo, backlogEntry] // due long ago: missed
	shared     waitingLines                       // due, and waiting for their tenant's share
	backlogged int                                // jobs in any of the three
	backlogDue instant.Millis                     // approximate due time of the first job in backlog
	ticket     wheel.Ref                          // the newest that was given out
	debts      debts
	replanning bool   // some jobs do not follow their changed schedules yet, as the store said before the core led
	changes    uint64 // number of changes of schedules by calendars and zones
	followed   uint64 // value of changes when the current pass of replanning began
	zones      zoneMemory
	calendars  map[string]*job.Calendar // by reference
	// changedCalendars are those that ChangedCalendars is to return next.
	changedCalendars []*ChangedCalendar
	pace             pace

	// deleting is the job that is being deleted. Its notices carry its name, because its rows are gone when they are
	// published.
	deleting    struct{ tenant, name string }
	rowsVersion byte            // the newest version of rows in the store, as the store records it
	readers     map[string]byte // newest version of rows that each node of the cluster reads; never changed in place
	outbox      int             // notices in the store
	deleted     deletedJobs     // whose definitions notices still need
	noticeSeq   uint32          // of the current commit
	auditSeq    uint32          // of the current commit

	// The slices below are scratch, or belong to the output; they are reused so that a steady load allocates nothing.
	due     []seat           // scratch
	landed  landings         // the outcomes of the step
	expired []uint32         // watches whose deadlines have passed; a step with room ends their attempts
	ticks   []instant.Millis // scratch
	out     Output
	counts  Counts
	reaping int // completed jobs that are armed or retired

	retirement retirement
}

// liveRun is a run without an outcome. It holds what every live run needs; the rest is in Core.retries. Invariant: it
// has an entry in Core.retries if its attempt is not the first or a report is awaited.
type liveRun struct {
	seat    seat
	attempt uint32
	fence   uint64
	due     instant.Millis // of the first attempt
	paidAt  instant.Millis // when the pace of catching up released the run; 0: it was on time
	watch   uint32         // index of its deadline while it waits for a report; 0: it does not
	tenant  tenantNo       // of its job
	byHand  bool           // a caller started or retried it
	payload bool           // the run has a payload row of its own
	waits   bool           // its job limits its concurrent runs
}

// New returns a core without jobs, at an instant.
func New(settings Settings, now instant.Millis) *Core {
	if settings.Zones == nil {
		settings.Zones = schedule.EmbeddedZones()
	}
	settings.ManualMax = cmp.Or(settings.ManualMax, manualMaxDefault)
	settings.EventsMax = cmp.Or(settings.EventsMax, EventsMaxDefault)
	c := &Core{
		settings: settings, decisionsMax: DecisionsMax, commitMax: CommitBytesMax, now: now,
		rows:      newTable(),
		wheel:     wheel.New(wheel.Tick(now)),
		live:      make(map[job.RunID]liveRun),
		retries:   make(map[job.RunID]*job.Run),
		streaks:   make(map[job.ID]uint32),
		onces:     newRecentMemory[onceKey, job.RunID](),
		redone:    newRecentMemory[job.RunID, uint64](),
		overAhead: newRecentMemory[job.ID, uint64](),
		asked:     make(map[job.ID]struct{}),
		written:   make(map[job.ID]*Put),
		tenants:   newTenants(),
		shared:    newWaitingLines(),
		presence:  newPresence(now),
		backlog:   fair.NewQueue[tenantNo, backlogEntry](decideQuantum),
		late:      fair.NewQueue[tenantNo, backlogEntry](decideQuantum),
		debts:     newDebts(), calendars: make(map[string]*job.Calendar),
		zones:   newZoneMemory(settings.Zones),
		pace:    newPace(settings.CatchupRate, settings.Shards, now),
		numbers: numbering{next: 1}, rowsVersion: job.RowsVersionUnmarked,
	}
	c.profiles = newProfiles(settings.Zones, c.calendarOf)
	return c
}

// Step handles proposals and outcomes, and decides the ticks that come due within the lead. The output belongs to the
// core and is valid until the next step. The order of the parts matters: runs that end make room for those that
// proposals and decisions start, and a change of a job comes before the decision of its ticks. What is pruned goes first,
// so that a run of an old day that ends in this step can be seen until the next day.
func (c *Core) Step(in Input) *Output {
	c.begin(in)
	c.buildIndex()
	c.prune()
	c.concludeAll(in)
	c.handleAll(in.Proposals)
	c.decideDue()
	c.askToReap()
	c.keepPace()
	c.saveCounted()
	c.endUnit()
	c.keepMarks()
	c.withhold(in.Proposals[c.out.ProposalsTaken:])
	c.out.Uses = c.tenants.settle(c.out.Uses)
	c.out.WakeAt, c.out.LatestAt = c.wakeAt()
	c.out.Awaits = c.shared.count > 0 || len(c.debts.byJob) > 0 || c.room < DecisionsMax
	return &c.out
}

// begin compares the time with the instant for which the last step asked, in the output that begin then resets. That
// shows whether the engine stood still in between. If the clock was set back, the wheel goes back too, before anything is
// put on it.
func (c *Core) begin(in Input) {
	c.presence.attend(in.Now, c.now, c.out.WakeAt, instant.Millis(c.settings.Lead.Milliseconds()), c.graceMillis())
	c.now, c.lsn, c.stepLSN, c.room = in.Now, in.LSN, in.LSN, in.Room
	c.latest = max(c.latest, c.now)
	c.noticeSeq, c.auditSeq = 0, 0
	c.unitAt, c.keptID = job.Mark{}, c.numbers.next
	c.out.reset()
	c.takeQuotas(in.Quotas)
	c.pace.others = in.Usual
	c.landed = landings{list: in.Outcomes}
	c.index.may = in.MayIndex
	c.tenants.endCharges()
	c.profiles.meter.spent = 0
	clear(c.asked)
	clear(c.written)
	c.onces.forget(in.LSN)
	c.redone.forget(in.LSN)
	c.overAhead.forget(in.LSN)
	if c.isBehind() {
		c.rewind()
	}
}

// concludeAll handles the outcomes. They come before the proposals, so that a worker's report finds its run
// delivered. They may fill what proposals and decisions leave of the commit.
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

// handleAll handles proposals, as many as fit into the step, and always the first one, so that a large proposal cannot
// starve. They spend at most half of the effort of the step, so that costly ones delay no ticks.
func (c *Core) handleAll(list []Proposal) {
	c.shareOfProposals()
	for i, p := range list {
		if i > 0 && (!c.more() || c.profiles.meter.isHalfSpent()) {
			return
		}
		c.unit(p.Bytes())
		if !c.handle(p) {
			return
		}
		c.out.Replies = append(c.out.Replies, p)
		c.out.ProposalsTaken++
	}
}

// withhold gives the launches of this step to the unfinished proposals that have withdrawn earlier launches of the
// same job, because the launches of a job leave in order.
func (c *Core) withhold(rest []Proposal) {
	for _, p := range rest {
		w, ok := p.(Withdrawer)
		if !ok || len(*w.Withdrawals()) == 0 {
			continue
		}
		c.holdBack(w, (*w.Withdrawals())[0].Run.Job)
	}
}

// handle is a flat switch over the kinds of proposal. It returns false for a proposal that continues in the next
// step.
func (c *Core) handle(p Proposal) bool {
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
	case *DismissRun:
		c.dismissRun(p)
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
	case *NoteReader:
		c.noteReader(p)
	case *Operation:
		c.operation(p)
	case *Barrier:
		c.barrier(p)
	default:
		panic(fmt.Sprintf("scheduler: unknown proposal %T", p))
	}
	return true
}

// find returns the seat and the row of the job with a name; nil if there is none.
func (c *Core) find(h NameHash) (seat, *hotRow) {
	s := c.names.find(h)
	if s == 0 {
		return 0, nil
	}
	return s, c.rows.row(s)
}
