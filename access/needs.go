package access

import (
	"maps"
	"slices"
)

// need is what a verb needs: a role in the tenant of the request, or one that belongs to no tenant.
type need struct {
	role     Role
	cluster  bool // the role is needed for all tenants
	anywhere bool // the role is needed in some tenant, whichever the request names
	known    bool // no role is needed: each principal may
}

// needs lists what the verbs of the API and the other doors need. It is the only place that says so: what is missing here
// is refused to every caller.
var needs = map[string]need{
	"jobs.get":       {role: Viewer},
	"jobs.list":      {role: Viewer},
	"runs.get":       {role: Viewer},
	"runs.list":      {role: Viewer},
	"calendars.get":  {role: Viewer},
	"calendars.list": {role: Viewer},
	"audit.list":     {role: Viewer},
	"schedules.next": {role: Viewer},
	// It tells how much of everything there is on the node, and nothing of what it is.
	"status": {role: Viewer, anywhere: true},
	// It tells a caller what the caller itself is.
	"whoami": {known: true},

	"jobs.put":          {role: Operator},
	"jobs.put_many":     {role: Operator},
	"jobs.pause":        {role: Operator},
	"jobs.resume":       {role: Operator},
	"jobs.trigger":      {role: Operator},
	"jobs.backfill":     {role: Operator},
	"runs.report":       {role: Operator},
	"runs.extend":       {role: Operator},
	"runs.cancel":       {role: Operator},
	"runs.retry":        {role: Operator},
	"runs.retry_many":   {role: Operator},
	"runs.dismiss":      {role: Operator},
	"runs.dismiss_many": {role: Operator},

	"jobs.delete":      {role: Admin},
	"calendars.put":    {role: Admin},
	"calendars.delete": {role: Admin},
	CredentialsVerb:    {role: Admin},

	"metrics": {role: Metrics},

	"backup":   {role: Admin, cluster: true},
	"restore":  {role: Admin, cluster: true},
	"handover": {role: Admin, cluster: true},
	"nodes":    {role: Admin, cluster: true},
	"shards":   {role: Admin, cluster: true},
}

// CredentialsVerb stands for reading credentials in clear, with jobs.get or jobs.list.
const CredentialsVerb = "credentials.read"

// Verbs returns everything for which rights are needed, sorted.
func Verbs() []string { return slices.Sorted(maps.Keys(needs)) }

// Can reports whether a principal may use a verb in a tenant. Verbs that concern all tenants, the status, whoami, and the
// metrics ignore the tenant. It returns false for a verb that does not exist, and for a nil principal.
func (p *Principal) Can(verb, tenant string) bool {
	n, known := needs[verb]
	switch {
	case !known || p == nil:
		return false
	case n.known:
		return true
	case n.cluster:
		return p.IsClusterAdmin()
	case n.anywhere:
		return p.hasRole()
	case n.role == Metrics:
		return p.MayReadMetrics()
	}
	return p.RoleIn(tenant) >= n.role
}

// concernsTenant reports whether a verb is used in a tenant.
func concernsTenant(verb string) bool {
	n := needs[verb]
	return !n.cluster && n.role != Metrics
}
