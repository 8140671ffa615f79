package scheduler

import "slices"

// The words of the model. It knows the product by nothing but what callers, targets and the log see:
// these files import neither job nor wheel, and use no type of this package but their own.

// modelDef is a definition of a job. Lengths and times are milliseconds.
type modelDef struct {
	expr, zone   string
	at           int64 // of a one-shot
	every        int64
	parts        []modelPart // of several schedules, instead of the one; expr has all of them
	starts, ends int64
	exclude      []string
	calendar     string // "" is none
	maxRuns      int
	jitter       int64

	reported bool
	timeout  int64
	retry    modelRetry

	pauseOnFailure int
	overlap        string
	maxConcurrent  int
	missed         string
	window         int64
	maxCatchup     int
	paused         bool
	payload        int // bytes
}

// modelPart is one of several schedules: cron, @at or @every.
type modelPart struct {
	text      string // as callers write it
	cron      string
	zone      string // "" is that of the job
	at, every int64
}

type modelRetry struct {
	attempts            int
	first, most, maxAge int64
	multiplier, jitter  float64
	refusals            bool // are retried, too
}

// sameTicks reports whether two definitions have one schedule.
func (d *modelDef) sameTicks(o *modelDef) bool {
	return d.expr == o.expr && d.zone == o.zone && d.at == o.at && d.every == o.every && d.starts == o.starts && d.ends == o.ends && d.calendar == o.calendar &&
		slices.Equal(d.parts, o.parts) && slices.Equal(d.exclude, o.exclude)
}

// isIn reports whether a definition is read in a zone.
func (d *modelDef) isIn(zone string) bool {
	return d.zone == zone || slices.ContainsFunc(d.parts, func(p modelPart) bool { return p.zone == zone })
}

// limit returns how many runs may go on at a time, 0 for any number.
func (d *modelDef) limit() int {
	if d.overlap == "allow" {
		return d.maxConcurrent
	}
	return 1
}

// runKey is the identity of a run.
type runKey struct {
	job uint64
	at  int64
	seq uint32
}

// rowKind says what a row of the log is about.
type rowKind int

const (
	rowRun       rowKind = iota + 1 // a live run
	rowRunGone                      // a live run is none any more
	rowFinal                        // a run in the history
	rowFinalGone                    // a run of the history is taken out
	rowDead                         // a dead run is listed
	rowDeadGone
	rowDebt
	rowDebtGone
	rowAudit
	rowNotice
	rowNoticeGone
	rowDeleted // the definition of a deleted job is kept
	rowDeletedGone
	rowZone      // by which rules the jobs of the zone that changes are planned
	rowReplan    // jobs are to follow a calendar, or have followed
	rowPruned    // the buckets of the history before a day are gone
	rowNextID    // which id no job has reached
	rowSlotsFrom // from which id on ids carry slots
)

// modelRow is a change in the log.
type modelRow struct {
	kind rowKind
	key  runKey

	// Of a run.
	status, reason, err string
	until, due          int64
	attempt, base       uint32
	fence               uint64
	deadline, launched  int64
	stale               uint32
	dismissed           bool

	owed []int64 // of a debt: its ticks

	action, name, detail, by string // of the audit log

	dead, event bool   // of a notice
	lsn         uint64 // of a notice
	seq         uint32 // of a notice

	day int64 // of what is pruned
}

// modelCommit is a commit that is durable, whether or not its effects came out.
type modelCommit struct {
	lsn  uint64
	at   int64 // the wall clock of its step
	end  int64 // the wall clock when it is durable
	rows []modelRow
}

// modelLaunch is what a target gets.
type modelLaunch struct {
	key     runKey
	name    string
	attempt uint32
	fence   uint64
	at      int64
}

// modelAnswer is what a target says of an attempt.
type modelAnswer struct {
	attempt    uint32
	err        string
	refused    bool
	retryAfter int64
}

// modelAct is a request of a caller.
type modelAct struct {
	kind string // put, pause, resume, delete, trigger, backfill, report, extend, cancel, retry, dismiss, calendar
	name string
	by   string

	def      *modelDef
	key      string // of a trigger
	from, to int64  // of a backfill
	run      runKey
	fence    uint64
	failed   bool
	text     string // the error of a report
	length   int64  // of an extension
	repeat   bool   // of a backfill
	dry      bool   // of a backfill

	maySlot  bool   // all nodes can read ids with slots
	want     string // the answer that is expected: a code, "" for success, "?" for either
	begun    bool
	idle     bool   // there is nothing to do
	done     uint64 // commit that did it, 0 if none did
	until    int64  // of an extension: what the model expects
	answered bool

	lines []string // of a calendar

	size   int64      // of the definition of a put
	before modelQuota // what the tenant used when it was asked

	// What the log has of an update before its entry in the audit log.
	dropped [][2]int64 // ranges of old ticks
	ahead   []modelAhead

	// The result, as the caller saw it.
	code     string
	lost     bool // the outcome is unknown
	runs     int  // began in the log
	told     int  // runs of a backfill that began, by the answer
	leftOut  int
	times    []int64
	alone    bool // no other caller acts at the same time
	gotRun   runKey
	deadline int64
}

// modelAhead is a tick that an update decided itself.
type modelAhead struct {
	tick, due int64 // due is 0 if it was skipped
	quota     bool  // it was skipped because the tenant has its live runs
}

// modelSettings are those of the engine.
type modelSettings struct {
	lead, grace, retention int64
	historyDays            int64
	liveMax, manualMax     int     // 0: as many as there are
	rate                   float64 // runs a second, 0 if the engine chooses
	dead, events           bool
	aheadMax               int   // ticks within the lead that an update lets run; the others are skipped
	slack                  int64 // by how much anything may be late because commits are slow
	cut                    bool  // commits are small: what belongs to one change may come in several
}
