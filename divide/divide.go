// Package divide makes the data of one shard the data of a cluster with several shards. It works on the directory of a
// stopped node, and needs no server: package datadir opens and makes the directories, and package scheduler says which row
// goes to which shard.
package divide

import (
	"context"
	"fmt"
	"maps"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Options name the data that is to be divided, and what becomes of it: see [datadir.DivideOptions].
type Options = datadir.DivideOptions

// Result describes what was divided. It is valid only if Run returned no error.
type Result struct {
	datadir.Founded
	Before     map[job.Kind]int // rows of each kind
	After      map[job.Kind]int // the same, of all shards together
	Jobs       []int            // of each shard
	Renumbered int              // jobs that got other ids, which are in the file ids.csv
}

// Run divides the data of a directory into that of several shards, in a new directory, which is then the founder of a
// cluster with so many shards. It reads every row, counts what it has written in the new stores, and returns an error if
// a row is missing. After an error the new directory is empty or absent; after a crash a start refuses it with
// [datadir.ErrDividing], and Run accepts it. The end of ctx is an error.
func Run(ctx context.Context, o Options) (done Result, err error) {
	d, err := datadir.Divide(o)
	if err != nil {
		return done, err
	}
	defer func() { err = d.Close(err) }()
	division, err := scheduler.Divide(d.Source(), o.Shards, func(shard uint32, b *job.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return d.Write(shard, b.Bytes())
	})
	if err != nil {
		return done, err
	}
	done.Before, done.Renumbered = division.Rows, len(division.Renumbered)
	if err := done.count(d, o.Shards); err != nil {
		return done, err
	}
	done.Founded, err = d.Finish(table(division.Renumbered))
	return done, err
}

// once are the kinds of which each row is in exactly one shard.
var once = []job.Kind{
	job.KindJob, job.KindName, job.KindTimer, job.KindRun, job.KindHistory, job.KindNote, job.KindOnce, job.KindPayload, job.KindRunPayload,
	job.KindStreak, job.KindDebt, job.KindDead, job.KindOutbox, job.KindAudit, job.KindDeleted,
}

// count counts the rows in the new stores, and returns an error if there are not as many as before.
func (r *Result) count(d *datadir.Division, shards int) error {
	r.After = make(map[job.Kind]int)
	for n := range uint32(shards) {
		rows, err := scheduler.CountRows(d.Store(n))
		if err != nil {
			return fmt.Errorf("count the rows of shard %d: %w", n, err)
		}
		for kind := range maps.Keys(rows) {
			r.After[kind] += rows[kind]
		}
		r.Jobs = append(r.Jobs, rows[job.KindTimer])
	}
	for _, kind := range once {
		if r.Before[kind] != r.After[kind] {
			return fmt.Errorf("%d rows of kind %d were divided into %d", r.Before[kind], kind, r.After[kind])
		}
	}
	if before, after := r.Before[job.KindCalendar]*shards, r.After[job.KindCalendar]; before != after {
		return fmt.Errorf("there are %d copies of calendars, want %d", after, before)
	}
	return nil
}

// table returns the jobs that got other ids as lines with commas: the old id, the new id, the tenant and the name. None of
// these can have a comma or a quote.
func table(list []scheduler.Renumbered) []byte {
	b := []byte("old_id,new_id,tenant,name\n")
	for _, j := range list {
		b = append(j.New.Append(append(j.Old.Append(b), ',')), ',')
		b = append(append(append(b, j.Tenant...), ','), j.Name...)
		b = append(b, '\n')
	}
	return b
}
