package main

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/bench/history"
)

// settle ends the load, kills the server once more, lets everything that is due fire without any client requests,
// reads the final state, stops the server and verifies its log. The last kill comes when the load is over, so that the
// final state is that of a recovery.
func (r *rig) settle(ctx context.Context) error {
	r.stopLoad()
	r.clients.Wait()
	r.sink.Relent()
	if r.proc.IsGone() {
		return r.proc.Ended()
	}
	r.rec.Die(r.proc.kill())
	if err := r.rise(); err != nil {
		return err
	}
	wait := r.rec.Drain()
	fmt.Fprintf(r.progress, "load is over; waiting %s for what is due\n", wait.Round(time.Millisecond))
	time.Sleep(wait)
	if r.proc.IsGone() {
		return r.proc.Ended()
	}
	f, err := history.ReadAll(r.api, r.progress)
	if err != nil {
		return err
	}
	if err := r.persist("stream", func() error { return r.sink.ReadStream(ctx) }); err != nil {
		return err
	}
	d, err := r.proc.stop()
	r.rec.Die(d)
	if err != nil {
		r.rec.Surprise(err.Error())
	}
	f.Log = r.launcher.verifyLog()
	r.rec.Conclude(f)
	return nil
}
