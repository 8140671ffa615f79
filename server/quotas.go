package server

import (
	"sync/atomic"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/usage"
)

// quotas returns the function by which the engine of a shard asks for the quotas in force: those of the file of rights, with what
// tenants use in other shards; nil without such a file. The engine asks in each step. The quotas are translated once for each
// reading of the file, and put together with what the other shards use at most four times a second.
func (s *Server) quotas(shard uint32) func() *scheduler.Quotas {
	if s.access == nil {
		return nil
	}
	type translated struct {
		table  *access.Table
		sum    *usage.Sum
		quotas *scheduler.Quotas
	}
	var last atomic.Pointer[translated]
	return func() *scheduler.Quotas {
		table, sum, t := s.access.Table(), s.elsewhere(shard), last.Load()
		if t != nil && t.table == table && t.sum == sum {
			return t.quotas
		}
		var quotas *scheduler.Quotas
		if t != nil && t.table == table {
			quotas = t.quotas
		} else {
			quotas = quotasOf(table)
		}
		t = &translated{table, sum, withElsewhere(quotas, sum)}
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
