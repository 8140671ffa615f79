package schedule

// Bounds of a schedule. A value beyond one is refused with an error that names the bound. ExcludeCronsMax is the
// number of bits of a word, see keptWalk: it cannot be larger without another representation.
const (
	// Each expression is searched at every tick of the job, so the first bound is on the cost of one decision.
	ExpressionsMax = 16
	// Longer lists belong into a calendar, which jobs share and which is compiled once.
	ExcludesMax     = 64
	ExcludeCronsMax = 64 // cron expressions among the exclusions of one job, including those of its calendars
)
