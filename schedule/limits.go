package schedule

// Bounds of a schedule. A value beyond one is refused with an error that names the bound. ExcludeCronsMax is the
// number of bits of a word, see keptWalk: it cannot be larger without another representation.
const (
	ExpressionsMax  = 16
	ExcludesMax     = 64
	ExcludeCronsMax = 64 // cron expressions among the exclusions of one job, including those of its calendars
)
