package schedule

// Bounds of a schedule. A value beyond one is refused with an error that names the bound.
const (
	ExpressionsMax  = 16
	ExcludesMax     = 64
	ExcludeCronsMax = 64 // cron expressions among the exclusions of one job, including those of its calendars
)
