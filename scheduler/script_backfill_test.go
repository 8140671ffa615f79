package scheduler

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/cockroachdb/datadriven"
)

// backfill asks as a caller does.
func (s *sim) backfill(d *datadriven.TestData, name string) string {
	at := func(key string) instant.Millis {
		v, err := time.Parse("2006-01-02 15:04:05", "2026-01-05 "+arg(d, key))
		if err != nil {
			d.Fatalf(s.t, "%s: %v", key, err)
		}
		return instant.Of(v)
	}
	limit, _ := strconv.Atoi(arg(d, "limit"))
	q := BackfillRequest{
		Tenant: tenantOf(name), Job: name, From: at("from"), To: at("to"), Limit: limit, Repeat: d.HasArg("repeat"), DryRun: d.HasArg("dry"),
	}
	var done BackfillResult
	var err error
	s.call(func() { done, err = s.engine.Backfill(context.Background(), q) })
	if err != nil {
		return errText(err)
	}
	text := fmt.Sprintf("runs=%d left_out=%d", done.Runs, done.LeftOut)
	for _, at := range done.Times {
		text += " " + clock(at)
	}
	return text
}

// call lets a method of the engine run that proposes, and makes the steps that it waits for.
func (s *sim) call(f func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		f()
	}()
	for {
		select {
		case <-over:
			s.settle()
			return
		case t := <-s.engine.proposals:
			s.begin()
			s.gather.add(t)
			s.finish()
		}
	}
}
