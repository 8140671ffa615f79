package carillon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/wal"
)

// keepBehind is how many commits the log of a node in a cluster keeps that its checkpoint has: should the
// stream lose some, the leader still has them.
const keepBehind = 10_000

func (o Options) keepBehind() uint64 {
	if o.clustered() {
		return keepBehind
	}
	return 0
}

// member is what a node of a cluster keeps, as the replication sees it: log, store and engine. The engine
// follows, or leads; after it has led, and after the data was replaced, there is a new one.
type member struct {
	server  *Server
	engine  atomic.Pointer[scheduler.Engine]
	service atomic.Pointer[api.Service]
	closing sync.WaitGroup // services that were replaced

	mu         sync.RWMutex // the log and the store may be replaced
	recent     recentPositions
	data       *data
	reader     *wal.Reader // reads on where Read was last
	readNext   uint64
	stopKeeper context.CancelFunc
	keeper     sync.WaitGroup
}

// start begins to follow with what the directory holds.
func (m *member) start() error {
	if err := os.RemoveAll(m.outgoing()); err != nil {
		return fmt.Errorf("remove what was being sent: %w", err)
	}
	m.keep()
	return m.Follow()
}

// keep makes checkpoints until stopKeeping.
func (m *member) keep() {
	ctx, stop := context.WithCancel(context.Background())
	m.stopKeeper = stop
	every := m.server.opts.CheckpointEvery
	m.keeper.Go(func() { m.server.fail(m.data.keep(ctx, every)) })
}

func (m *member) stopKeeping() {
	m.stopKeeper()
	m.keeper.Wait()
}

// Last implements replication.Local.
func (m *member) Last() job.Position {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.data.log.Last()
}

// Applied implements replication.Local.
func (m *member) Applied() job.Position {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.data.applied()
}

// Durable implements replication.Local.
func (m *member) Durable() job.Position {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.data.store.Durable()
}

// Find implements replication.Local.
func (m *member) Find(lsn uint64) (job.Position, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if lsn > m.data.log.Last().LSN || lsn < m.data.log.Base().LSN {
		return job.Position{}, false
	}
	if at, ok := m.recent.find(lsn); ok {
		return at, true
	}
	at, err := m.data.log.PositionOf(lsn)
	return at, err == nil
}

// Read implements replication.Local. Reading on is cheaper than jumping.
func (m *member) Read(lsn uint64) (at job.Position, prev [16]byte, payload []byte, ok bool, err error) {
	before, ok := m.Find(lsn - 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !ok || lsn > m.data.log.Last().LSN {
		return at, prev, nil, false, nil
	}
	if m.reader == nil || m.readNext != lsn {
		m.closeReader()
		if m.reader, err = m.data.log.NewReader(lsn); errors.Is(err, wal.ErrOutOfRange) {
			return at, prev, nil, false, nil
		} else if err != nil {
			return at, prev, nil, false, err
		}
	}
	f, err := m.reader.Next()
	if err != nil {
		m.closeReader()
		return at, prev, nil, false, err
	}
	m.readNext = lsn + 1
	return f.Position, before.Hash, f.Payload, true, nil
}

func (m *member) closeReader() {
	if m.reader != nil {
		_ = m.reader.Close() // it was read only
		m.reader = nil
	}
}

// Append implements replication.Local.
func (m *member) Append(epoch uint64, payload []byte) (job.Position, error) {
	at, err := m.data.log.Append(epoch, payload)
	if err == nil {
		m.recent.note(at)
	}
	return at, err
}

// Apply implements replication.Local.
func (m *member) Apply(at job.Position, payload []byte) error {
	return m.engine.Load().Apply(at, payload)
}

// Idle implements replication.Local.
func (m *member) Idle() { m.engine.Load().Idle() }

// Cut implements replication.Local.
func (m *member) Cut(keep job.Position) error {
	m.stopKeeping()
	defer m.keep()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closeReader()
	m.recent.forget()
	saved, err := m.data.cutTail(keep)
	if err == nil && saved != "" {
		m.server.opts.Logger.Warn("the end of this node's log is not part of the cluster's log, and was put aside", slog.String("file", saved))
	}
	return err
}

// Save implements replication.Local.
func (m *member) Save(after job.Position) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	saved, err := m.data.saveTail(after.LSN)
	if err == nil && saved != "" {
		m.server.opts.Logger.Warn("commits of this node are not part of the cluster's log, and were put aside", slog.String("file", saved))
	}
	return err
}

// Begin implements replication.Local.
func (m *member) Begin() error { return m.engine.Load().Lead() }

// Follow implements replication.Local.
func (m *member) Follow() error {
	m.mu.RLock()
	opts := m.server.engineOptions(m.server.node)
	m.mu.RUnlock()
	opts.Trust = m.server.node.Trust
	engine, err := scheduler.Follow(opts)
	if err != nil {
		return err
	}
	m.engine.Store(engine)
	return m.openService(true)
}

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
		m.closeService()
		return err
	case <-ctx.Done():
	}
	m.closeService()
	stop()
	return <-ended
}

// Hold implements replication.Local.
func (m *member) Hold(ctx context.Context) {
	engine := m.engine.Load()
	engine.Hold()
	engine.Settle(ctx)
}

// closeServiceMax bounds how long a node that changes its part waits for the requests under way.
const closeServiceMax = 250 * time.Millisecond

// openService answers requests from the engine: as the leader, or as a standby.
func (m *member) openService(standby bool) error {
	service, err := m.server.newService(m.engine.Load(), standby)
	if err != nil {
		return err
	}
	if last := m.service.Swap(service); last != nil {
		m.closing.Go(func() { m.closeOne(last) }) // nobody waits for what the old one still answers
	}
	return nil
}

func (m *member) closeService() {
	if service := m.service.Swap(nil); service != nil {
		m.closeOne(service)
	}
	m.closing.Wait()
}

func (m *member) closeOne(service *api.Service) {
	ctx, cancel := context.WithTimeout(context.Background(), closeServiceMax)
	defer cancel()
	if err := service.Close(ctx); err != nil {
		m.server.opts.Logger.Debug("requests were cut short", slog.Any("error", err))
	}
}

// Status returns a reading of the engine.
func (m *member) Status() scheduler.Status { return m.engine.Load().Status() }

// Export implements replication.Local.
func (m *member) Export(ctx context.Context, name string) (dir string, at job.Position, err error) {
	if err := os.MkdirAll(m.outgoing(), 0o750); err != nil {
		return "", at, err
	}
	dir = filepath.Join(m.outgoing(), name)
	m.mu.RLock()
	defer m.mu.RUnlock()
	at, err = m.data.parts().Export(ctx, dir)
	return dir, at, err
}

// Incoming implements replication.Local.
func (m *member) Incoming() string { return filepath.Join(m.data.dir, incomingName) }

// Adopt implements replication.Local.
func (m *member) Adopt(at job.Position) error {
	m.closeService()
	m.stopKeeping()
	m.mu.Lock()
	m.closeReader()
	m.recent.forget()
	err := m.data.adopt(at)
	m.mu.Unlock()
	if err != nil {
		return err
	}
	m.keep()
	return m.Follow()
}

// stop ends what start began.
func (m *member) stop() {
	m.closeService()
	m.stopKeeping()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closeReader()
}
