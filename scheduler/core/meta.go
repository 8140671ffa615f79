package core

// Names of meta rows.
const (
	// Stores have them, so a name never changes its meaning.
	MetaEpoch     = "epoch"
	MetaNextID    = "next_id"
	metaPrunedDay = "pruned_day"
	metaUsualRate = "usual_rate"
	metaShard     = "shard"
	// MetaRows holds the newest version of the rows, once it is above [job.RowsVersionUnmarked].
	MetaRows = "rows"
)
