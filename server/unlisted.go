package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/access"
)

const (
	// unlistedMax bounds how many tenants a warning names.
	unlistedMax = 16
	// unlistedEvery is the time between two looks for the log. A node that joins has no jobs yet when it looks first.
	unlistedEvery = time.Minute
)

// unlisted returns tenants with jobs that the file of rights does not list, in the order of their names and at most
// unlistedMax. A standby knows them as the leader does: both count the jobs of tenants.
func (s *Server) unlisted() []string {
	if s.access == nil {
		return nil
	}
	table := s.access.Table()
	return s.tenantsWithJobs(unlistedMax, func(tenant string) bool { return !table.Lists(tenant) })
}

// warnUnlisted returns the warning of tenants that the file of rights does not list; "" for none.
func warnUnlisted(tenants []string) string {
	if len(tenants) == 0 {
		return ""
	}
	return fmt.Sprintf("the file of rights does not list these tenants, and they have jobs: %s; their runs have no targets and are dead; list them under tenants, and retry the runs, or delete the jobs",
		strings.Join(tenants, ", "))
}

// watchUnlisted logs which tenants with jobs the file of rights does not list: now, soon after each read of the file, and
// when there are others.
func (s *Server) watchUnlisted(context.Context) error {
	if s.access == nil {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopUnlisted = stop
	s.background.Go(func() {
		tick := time.NewTicker(unlistedEvery)
		defer tick.Stop()
		var last []string
		for {
			now := s.unlisted()
			if len(now) > 0 && !slices.Equal(now, last) {
				s.opts.Logger.Warn(warnUnlisted(now))
			}
			last = now
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			case <-s.reread:
			}
		}
	})
	return nil
}

// guardedWarnings returns the warnings that name tenants and files, for a caller: a cluster admin reads all, and who has a
// role in a tenant what concerns that tenant. nil stands for who reads all.
func (s *Server) guardedWarnings(who *access.Who) (warnings []string) {
	if s.access == nil {
		return nil
	}
	isAll := who == nil || who.IsClusterAdmin()
	if isAll {
		warnings = s.access.FileWarnings()
	}
	names := slices.DeleteFunc(s.unlisted(), func(tenant string) bool { return !isAll && !s.access.Sees(*who, tenant, access.Viewer) })
	if text := warnUnlisted(names); text != "" {
		warnings = append(warnings, text)
	}
	return warnings
}
