package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/bench/history"
)

// settle ends the load, lets all that is due fire, reads everything from the leader, stops all processes and reads
// their logs. The load ends first and the sink relents, so that the final state can be known exactly.
func (r *rig) settle(ctx context.Context) error {
	r.stopLoad()
	r.clients.Wait()
	r.sink.Relent()
	wait := r.rec.Drain()
	fmt.Fprintf(r.progress, "load is over; waiting %s for what is due\n", wait.Round(time.Millisecond))
	if err := rest(ctx, wait); err != nil {
		return err
	}
	// A process that has died meanwhile would only show as a failed read.
	if err := r.cluster.gone(); err != nil {
		return err
	}
	f, err := history.ReadAll(r.api, r.progress)
	if err != nil {
		return err
	}
	if err := until(ctx, healWait, func() error { return r.sink.ReadStream(ctx) }); err != nil {
		return err
	}
	if err := r.cluster.stop(); err != nil {
		r.rec.Surprise(err.Error())
	}
	err = r.readLogs(ctx, f)
	r.rec.Conclude(f)
	return err
}

// readLogs verifies and reads the logs of all nodes that have one. The nodes must have ended. A log that does not
// verify is a finding, and not an error of the run.
func (r *rig) readLogs(ctx context.Context, f *history.Final) error {
	var errs []error
	for _, n := range r.cluster.engines() {
		for shard := range r.opts.shards {
			dir := n.shardDir(shard)
			if !n.holds(shard) {
				continue
			}
			if err := r.command(ctx, "wal", "verify", dir); err != nil {
				f.Log += fmt.Sprintf("%s: %v\n", n.name, err)
				continue
			}
			l, err := dumpLog(ctx, r.opts.binary, dir, 1)
			l.Node, l.Shard = n.name, shard
			errs = append(errs, err)
			f.Logs = append(f.Logs, l)
		}
	}
	return errors.Join(errs...)
}
