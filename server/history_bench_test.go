package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler"
)

// BenchmarkNewestRuns reads the newest page, of a hundred, of a job with a million runs in ninety days:
//
//	go test -run xxx -bench NewestRuns -benchtime 200x ./server
func BenchmarkNewestRuns(b *testing.B) {
	o := datadir.Options{Dir: b.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	d, err := openShard(o, datadir.ShardOptions{OnFatal: func(err error) { b.Error(err) }})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = errors.Join(d.Close(), d.Directory().Close()) }()
	fillHistory(b, d, 1_000_000)
	e, err := scheduler.Open(scheduler.Options{Log: d.Log(), Store: d.Store(), Sender: noSender{}, Logger: o.Logger})
	if err != nil {
		b.Fatal(err)
	}
	query := scheduler.RunQuery{Tenant: "default", Job: "busy", Limit: 100}
	b.ResetTimer()
	for range b.N {
		page, err := e.Runs(context.Background(), query)
		if err != nil || len(page.Runs) != query.Limit {
			b.Fatalf("%d runs, %v", len(page.Runs), err)
		}
	}
}

// fillHistory writes a job and its runs, evenly over the last ninety days.
func fillHistory(b *testing.B, d *datadir.Shard, runs int) {
	def := job.Defaults()
	def.Tenant, def.Name, def.Schedule = "default", "busy", "@every 8s"
	def.Target = job.Target{Kind: job.TargetNATS, Subject: "x"}
	schedule, err := schedule.Parse(def.Spec())
	if err != nil {
		b.Fatal(err)
	}
	now := instant.Of(time.Now())
	const id = job.ID(7)
	var batch job.Batch
	batch.PutProfile(1, job.ProfileOf(&def, schedule))
	batch.PutRecord(job.Stamp{ID: id, Version: 1, CreatedAt: 1, UpdatedAt: 1, Anchor: now}, job.EncodeDefinition(&def))
	batch.PutTimer(id, job.Timer{Profile: 1, Cursor: now.Add(time.Hour), Version: 1})
	batch.PutName(def.Tenant, def.Name, id)
	const span = 90 * 24 * time.Hour
	for i := range runs {
		at := now.Add(-span + time.Duration(i)*(span/time.Duration(runs)))
		batch.PutHistory(&job.Run{
			ID: job.RunID{Job: id, At: at}, Status: job.StatusSucceeded, Attempt: 1, Fence: uint64(i), Due: at,
			LaunchedAt: at, FinishedAt: at + 1, Lateness: time.Millisecond,
		})
		if i%5000 == 4999 || i == runs-1 {
			at, err := d.Log().Append(1, batch.Bytes())
			if err == nil {
				err = d.Store().Apply(at, batch.Bytes())
			}
			if err != nil {
				b.Fatal(fmt.Errorf("run %d: %w", i, err))
			}
			batch.Reset()
		}
	}
	if err := d.Checkpoint(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// noSender is a sender that no job uses.
type noSender struct{ scheduler.Boundless }

// Launch implements scheduler.Sender.
func (noSender) Launch(*job.Delivery, func(job.Outcome)) { panic("nothing is due") }

// Cancel implements scheduler.Sender.
func (noSender) Cancel(job.RunID) {}
