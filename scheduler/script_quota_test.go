package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
)

// quota gives a tenant of a story a quota, or takes it away, for the steps to come.
func (s *sim) quota(d *datadriven.TestData, tenant string) string {
	byTenant := make(map[string]Quota)
	for _, name := range s.quotas.Tenants() {
		byTenant[name] = s.quotas.Of(name)
	}
	byTenant[tenant] = quotaArg(d)
	s.quotas = NewQuotas(byTenant)
	s.step()
	s.settle()
	return "ok"
}

// elsewhere says what a tenant of a story uses in other shards. The engine learns of it with its next step.
func (s *sim) elsewhere(d *datadriven.TestData, tenant string) string {
	s.quotas = s.quotas.With(map[string]Quota{tenant: quotaArg(d)})
	return "ok"
}

func quotaArg(d *datadriven.TestData) Quota {
	number := func(key string) (n int64) {
		if v := arg(d, key); v != "" {
			n = must(strconv.ParseInt(v, 10, 64))
		}
		return n
	}
	return Quota{Jobs: number("jobs"), Bytes: number("bytes"), LiveRuns: number("live")}
}

// uses says what the tenants use, as the engine and a recount have it.
func (s *sim) uses() string {
	for _, err := range []error{s.engine.core.Check(), s.engine.core.CheckBytes(s.store)} {
		if err != nil {
			return err.Error()
		}
	}
	var lines []string
	for _, tenant := range slices.Sorted(maps.Keys(s.engine.gauge.uses)) {
		u := s.engine.gauge.uses[tenant]
		lines = append(lines, fmt.Sprintf("%s: %d jobs of %d bytes, %d live", tenant, u.Jobs, u.Bytes, u.LiveRuns))
	}
	return strings.Join(lines, "\n")
}
