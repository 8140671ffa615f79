package server

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-io/carillon/access"
)

// unlistedMax bounds how many tenants are noted, and so how many a warning names.
const unlistedMax = 16

// unlisted notes the tenants with runs that the file of rights does not list. The zero value is ready. Safe for concurrent
// use.
type unlisted struct {
	mu    sync.Mutex
	names []string // sorted, at most unlistedMax
}

// note notes a tenant. Further ones than unlistedMax are forgotten: whoever lists these learns of the others.
func (u *unlisted) note(tenant string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if i, found := slices.BinarySearch(u.names, tenant); !found && len(u.names) < unlistedMax {
		u.names = slices.Insert(u.names, i, tenant)
	}
}

// of returns the noted tenants that a file still does not list, and forgets the others.
func (u *unlisted) of(t *access.Table) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.names = slices.DeleteFunc(u.names, t.Lists)
	return slices.Clone(u.names)
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
	names := slices.DeleteFunc(s.unlisted.of(s.access.Table()), func(tenant string) bool { return !isAll && !s.access.Sees(*who, tenant, access.Viewer) })
	if len(names) > 0 {
		warnings = append(warnings, fmt.Sprintf("the file of rights does not list these tenants, and they have jobs: %s; their runs have no targets and are dead; list them under tenants, and retry the runs, or delete the jobs",
			strings.Join(names, ", ")))
	}
	return warnings
}
