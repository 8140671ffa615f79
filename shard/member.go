package shard

import (
	"context"
	"errors"
	"log/slog"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/wal"
)

// member is a shard in a cluster, as its node sees it: it implements replication.Local. The engine follows or leads.
type member struct {
	*Shard
	known  datadir.Members // as the directory had it at the start
	recent recentPositions

	// Both are guarded by the shard's mu.
	reader   *wal.Reader // continues after the commit that Read returned last
	readNext uint64
}

// begin opens an engine that follows, on the directory's data.
func (m *member) begin() error {
	if err := m.data.RemoveExports(); err != nil {
		return err
	}
	m.keep()
	return m.Follow()
}

// Last implements replication.Local.
func (m *member) Last() job.Position {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.data.Log().Last()
}

// Applied implements replication.Local.
func (m *member) Applied() job.Position {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.data.Applied()
}

// Durable implements replication.Local.
func (m *member) Durable() job.Position {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.data.Store().Durable()
}

// Find implements replication.Local.
func (m *member) Find(lsn uint64) (job.Position, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if at, ok := m.recent.find(lsn); ok && lsn <= m.data.Last().LSN && lsn >= m.data.Log().Base().LSN {
		return at, true
	}
	return m.data.Find(lsn)
}

// Read implements replication.Local. Reading the next commit is cheaper than reading another one.
func (m *member) Read(lsn uint64) (at job.Position, prev [16]byte, payload []byte, ok bool, err error) {
	before, ok := m.Find(lsn - 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !ok || lsn > m.data.Log().Last().LSN {
		return at, prev, nil, false, nil
	}
	if m.reader == nil || m.readNext != lsn {
		m.closeReader()
		if m.reader, err = m.data.Log().NewReader(lsn); errors.Is(err, wal.ErrOutOfRange) {
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
		_ = m.reader.Close() // it was only read
		m.reader = nil
	}
}

// Append implements replication.Local.
func (m *member) Append(epoch uint64, payload []byte) (job.Position, error) {
	at, err := m.data.Log().Append(epoch, payload)
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
	saved, err := m.data.CutTail(keep)
	if err == nil && saved != "" {
		m.opts.Logger.Warn("the end of this node's log is not part of the cluster's log, and was put aside", slog.String("file", saved))
	}
	return err
}

// Save implements replication.Local.
func (m *member) Save(after job.Position) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	saved, err := m.data.SaveTail(after.LSN)
	if err == nil && saved != "" {
		m.opts.Logger.Warn("commits of this node are not part of the cluster's log, and were put aside", slog.String("file", saved))
	}
	return err
}

// Begin implements replication.Local.
func (m *member) Begin() error { return m.engine.Load().Lead() }

// Follow implements replication.Local.
func (m *member) Follow() error {
	m.mu.RLock()
	opts := m.engineOptions(m.node)
	m.mu.RUnlock()
	opts.Trust, opts.RowsMax = m.node.Trust, m.node.RowsMax
	engine, err := scheduler.Follow(opts)
	if err != nil {
		return err
	}
	m.engine.Store(engine)
	return m.openService(true)
}

// Incoming implements replication.Local.
func (m *member) Incoming() string { return m.data.Incoming() }

// MayReplace implements replication.Local.
func (m *member) MayReplace(old replication.Old) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.data.MayReplace(fateFor(old))
}

// Base implements replication.Local.
func (m *member) Base() job.Position {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.data.Log().Base()
}

// Ancestors implements replication.Local.
func (m *member) Ancestors(lsn uint64, most int) []job.Position {
	m.mu.RLock()
	lineage := m.data.Lineage()
	m.mu.RUnlock()
	return lineage.Before(lsn, most)
}

// Adopt implements replication.Local.
func (m *member) Adopt(at job.Position, ancestors []job.Position, old replication.Old) error {
	m.closeService(context.Background())
	m.stopKeeping()
	m.mu.Lock()
	m.closeReader()
	m.recent.forget()
	err := m.data.Adopt(at, ancestors, fateFor(old))
	if err == nil {
		err = m.data.Directory().MarkJoined(m.opts.Number)
	}
	m.mu.Unlock()
	if err != nil {
		return err
	}
	m.keep()
	return m.Follow()
}

// end ends what begin began.
func (m *member) end() {
	m.closeService(context.Background())
	m.stopKeeping()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closeReader()
}
