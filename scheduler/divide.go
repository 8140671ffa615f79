package scheduler

import (
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Divide divides the rows of an engine that is closed into those of several shards: see [core.Divide].
func Divide(from RowReader, shards int, write func(shard uint32, b *job.Batch) error) (Division, error) {
	return core.Divide(from, shards, write)
}

// CountRows counts the rows of a store by kind.
func CountRows(from core.Scanner) (map[job.Kind]int, error) { return core.CountRows(from) }
