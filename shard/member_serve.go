package shard

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/carillon-io/carillon/scheduler"
)

// Serve implements replication.Local.
func (m *member) Serve(ctx context.Context, ready func()) error {
	engine := m.engine.Load()
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
		m.closeService(context.Background())
		return err
	case <-ctx.Done():
	}
	m.closeService(context.Background())
	stop()
	return <-ended
}

// Confirm implements replication.Local.
func (m *member) Confirm(ctx context.Context) error { return m.engine.Load().Confirm(ctx) }

// Hold implements replication.Local.
func (m *member) Hold(ctx context.Context) {
	engine := m.engine.Load()
	engine.Hold()
	engine.Settle(ctx)
}

// Rest implements replication.Local.
func (m *member) Rest(ctx context.Context) error {
	m.closeService(ctx)
	return m.engine.Load().Rest(ctx)
}

// Continue implements replication.Local.
func (m *member) Continue() error {
	m.engine.Load().Continue()
	if m.Service() != nil {
		return nil
	}
	return m.openService(false)
}

// When a leader looks at what the log has to note of the nodes: as soon as it hears something new, but with a pause after
// each look, so that beats with forged names cause few commits; and from time to time, for nodes that are silent.
const (
	noteEvery = time.Second
	notePause = 100 * time.Millisecond
)

// noteReaders notes in the log which rows the nodes read, while this node leads. A note that fails is tried again.
func (m *member) noteReaders(ctx context.Context, engine *scheduler.Engine) {
	tick := time.NewTicker(noteEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		for _, r := range m.node.Unnoted(engine.Status().Readers) {
			_ = engine.NoteReader(ctx, r.Node, r.Rows)
		}
		pause := time.NewTimer(notePause)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		select {
		case <-ctx.Done():
		case <-m.node.NewReaders():
		case <-tick.C:
		}
	}
}
