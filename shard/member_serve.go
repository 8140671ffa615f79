package shard

import (
	"context"
	"errors"
)

// Serve implements replication.Local.
func (m *member) Serve(ctx context.Context, ready func()) error {
	engine := m.engine.Load()
	serving, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- engine.Serve(serving) }()
	if err := m.openService(false); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	defer m.lead()()
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
	if m.service.Load() != nil {
		return nil
	}
	return m.openService(false)
}
