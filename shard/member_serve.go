package shard

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/carillon-io/carillon/scheduler"
)

// Serve implements replication.Local.
func (m *member) Serve(ctx context.Context, ready func()) error {
	engine := m.engine.Load()
	m.beforeLead()
	serving, stop := context.WithCancel(context.Background())
	var notes sync.WaitGroup
	defer notes.Wait()
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- engine.Serve(serving) }()
	if err := m.openService(false); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	defer m.lead()()
	notes.Go(func() { m.noteReaders(serving, engine) })
	ready()
	select {
	case err := <-ended:
		m.passOn(context.Background())
		return err
	case <-ctx.Done():
	}
	m.passOn(context.Background())
	stop()
	return <-ended
}

// Confirm implements replication.Local.
func (m *member) Confirm(ctx context.Context) error { return m.engine.Load().Confirm(ctx) }

// Hold implements replication.Local. Requests end at the same time, so that Rest does not wait for that after the attempts.
func (m *member) Hold(ctx context.Context) {
	engine := m.engine.Load()
	engine.Hold()
	m.beginPassing()
	engine.Settle(ctx)
}

// Rest implements replication.Local.
func (m *member) Rest(ctx context.Context) error {
	m.passOn(ctx)
	engine := m.engine.Load()
	if n := m.settleSent(ctx, engine); n > 0 {
		m.opts.Logger.Info("attempts have no answer yet: the next leader launches them again", slog.Int("attempts", n))
	}
	return engine.Rest(ctx)
}

// settleSent waits for the answers of NATS itself, for at most half of the time until ctx ends. What targets have not answered by
// now is left to the next leader.
func (m *member) settleSent(ctx context.Context, engine *scheduler.Engine) (unanswered int) {
	if end, ok := ctx.Deadline(); ok {
		sooner, cancel := context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
		ctx = sooner
	}
	return engine.SettleSent(ctx)
}

// Continue implements replication.Local.
func (m *member) Continue() error {
	m.engine.Load().Continue()
	if m.LeaderService() != nil {
		return nil
	}
	return m.openService(false)
}

// When a leader looks at what the log has to note of the nodes: as soon as it hears something new, but with a pause after
// each look, so that beats with forged names cause few commits; soon after it had to note something; and from time to time,
// for nodes that are silent for so long that they count no more.
const (
	notePause = 100 * time.Millisecond
	noteSoon  = time.Second
	noteEvery = 10 * time.Second
)

// noteReaders notes in the log which rows the nodes read, while this node leads. A note that fails is tried again.
func (m *member) noteReaders(ctx context.Context, engine *scheduler.Engine) {
	for ctx.Err() == nil {
		next, unnoted := noteEvery, m.node.Unnoted(engine.Readers())
		for _, r := range unnoted {
			_ = engine.NoteReader(ctx, r.Node, r.Rows)
			next = noteSoon
		}
		looked := time.Now()
		select {
		case <-ctx.Done():
		case <-m.node.NewReaders():
			sleep(ctx, notePause-time.Since(looked))
		case <-time.After(next):
		}
	}
}

// sleep waits for a time, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
