package server

import (
	"sync/atomic"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/scheduler"
)

// quotas returns the function by which the engine asks for the quotas in force: those of the file of rights; nil without
// such a file. They are translated once for each reading of the file.
func (s *Server) quotas() func() *scheduler.Quotas {
	if s.access == nil {
		return nil
	}
	type translated struct {
		table  *access.Table
		quotas *scheduler.Quotas
	}
	var last atomic.Pointer[translated]
	return func() *scheduler.Quotas {
		table := s.access.Table()
		if t := last.Load(); t != nil && t.table == table {
			return t.quotas
		}
		t := &translated{table, quotasOf(table)}
		last.Store(t)
		return t.quotas
	}
}

// quotasOf returns what the engine holds of the quotas of tenants.
func quotasOf(table *access.Table) *scheduler.Quotas {
	byTenant := make(map[string]scheduler.Quota)
	for name, q := range table.Quotas() {
		byTenant[name] = scheduler.Quota{Jobs: q.Jobs, Bytes: q.Bytes, LiveRuns: q.LiveRuns}
	}
	return scheduler.NewQuotas(byTenant)
}
