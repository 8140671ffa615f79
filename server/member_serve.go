package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/api"
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
	defer m.server.backups.lead()()
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

// closeServiceMax bounds how long a node that changes its role waits for the requests under way.
const closeServiceMax = 250 * time.Millisecond

// openService makes the service that answers requests from the engine, as the leader or as a standby.
func (m *member) openService(standby bool) error {
	service, err := m.server.newService(m.engine.Load(), standby)
	if err != nil {
		return err
	}
	if last := m.service.Swap(service); last != nil {
		m.closing.Go(func() { m.closeOne(context.Background(), last) }) // the new service does not wait for the requests of the old one
	}
	return nil
}

func (m *member) closeService(ctx context.Context) {
	if service := m.service.Swap(nil); service != nil {
		m.closeOne(ctx, service)
	}
	m.closing.Wait()
}

func (m *member) closeOne(ctx context.Context, service *api.Service) {
	ctx, cancel := context.WithTimeout(ctx, closeServiceMax)
	defer cancel()
	if err := service.Close(ctx); err != nil {
		m.server.opts.Logger.Debug("requests were cut short", slog.Any("error", err))
	}
}
