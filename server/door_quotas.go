package server

import (
	"log/slog"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/metrics"
)

// doorQuotas returns the function that reads what tenants use of the quotas that are held outside the engine; nil without a
// file of rights.
func (s *Server) doorQuotas() func() metrics.Quotas {
	if s.access == nil {
		return nil
	}
	return func() metrics.Quotas {
		all := metrics.Quotas{Limited: s.access.Limited()}
		for _, u := range s.access.Uses(s.useOf) {
			all.Uses = append(all.Uses, metrics.Quota(u))
		}
		return all
	}
}

// useOf returns what a tenant uses of a quota that the file of rights names and another part counts.
func (s *Server) useOf(tenant, quota string) float64 {
	if quota == "in_flight" {
		return float64(s.dispatcher.InFlight(tenant))
	}
	n, err := s.first().shard.Engine().CountCalendars(tenant) // each shard has a copy of all
	if err != nil {
		s.opts.Logger.Warn("the calendars of a tenant were not counted", slog.String(job.LogTenant, tenant), slog.Any("error", err))
	}
	return float64(n)
}

// guardedRequests returns the function that reads what became of the requests of tenants to JetStream; nil if this process
// guards none.
func (s *Server) guardedRequests() func() metrics.GuardedRequests {
	if _, ok := s.bus.Guarded(); !ok {
		return nil
	}
	return func() metrics.GuardedRequests {
		c, _ := s.bus.Guarded()
		return metrics.GuardedRequests(c)
	}
}
