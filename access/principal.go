package access

import (
	"maps"
	"slices"
	"strings"
)

// AnyTenant is the tenant of a grant that holds for all tenants, also for those that the file does not list.
const AnyTenant = "*"

// A Principal is a person or a program that the file of rights knows. It is fixed after it was read.
type Principal struct {
	Name string // of a person who is several principals: their names, with commas between
	NKey string // public key of its NATS user; "": it has none

	roles     map[string]Role // by tenant, AnyTenant included
	isMetrics bool            // some grant permits it to read the metrics
	line      int             // where the file has it
	shown     means           // by what callers show that they are this principal
}

// means is a set of what callers are recognized by.
type means uint8

const (
	byToken means = 1 << iota
	byNKey
	byCert
	byGroup
)

// isShownBy reports whether a caller can be this principal by what [Who.Means] names. It is true for a kind that this release
// does not know.
func (p *Principal) isShownBy(text string) bool {
	kind, name, _ := strings.Cut(text, ":")
	switch kind {
	case "token":
		return p.shown&byToken != 0
	case "nkey":
		return p.shown&byNKey != 0 && p.NKey == name
	case "cert":
		return p.shown&byCert != 0
	case "oidc":
		return p.shown&byGroup != 0
	}
	return true
}

// RoleIn returns the strongest role that the principal has in a tenant. It returns None for nil.
func (p *Principal) RoleIn(tenant string) Role {
	if p == nil {
		return None
	}
	return max(p.roles[tenant], p.roles[AnyTenant])
}

// IsClusterAdmin reports whether the principal may do what concerns all tenants: backups, restores, hand-overs and
// changes of nodes. It is false for nil.
func (p *Principal) IsClusterAdmin() bool { return p != nil && p.roles[AnyTenant] == Admin }

// MayReadMetrics reports whether the principal may read the metrics, which have figures of all tenants. It is false for
// nil.
func (p *Principal) MayReadMetrics() bool {
	return p != nil && (p.isMetrics || p.roles[AnyTenant] >= Viewer)
}

// Tenants returns the tenants in which the principal has a role, sorted, and whether it has one in all tenants, which are
// not among them. It returns none for nil.
func (p *Principal) Tenants() (names []string, all bool) {
	if p == nil {
		return nil, false
	}
	names = slices.Sorted(maps.Keys(p.roles))
	return slices.DeleteFunc(names, func(name string) bool { return name == AnyTenant }), p.roles[AnyTenant] != None
}

// Grant is a role in a tenant, or in all of them with [AnyTenant].
type Grant struct {
	Tenant string
	Role   Role
}

// Grants returns the roles of the caller by tenant, sorted by the tenant. The role metrics, which has no tenant, is not
// among them; see [Principal.MayReadMetrics]. It returns none for a caller without credentials.
func (w Who) Grants() (list []Grant) {
	switch {
	case w.Tenant != "":
		return []Grant{{w.Tenant, Admin}}
	case w.Principal == nil:
		return nil
	}
	for _, tenant := range slices.Sorted(maps.Keys(w.roles)) {
		list = append(list, Grant{tenant, w.roles[tenant]})
	}
	return list
}

// hasRole reports whether the principal has a role in some tenant. It is false for nil.
func (p *Principal) hasRole() bool { return p != nil && len(p.roles) > 0 }

// grant adds a role.
func (p *Principal) grant(tenant string, r Role) {
	if r == Metrics {
		p.isMetrics = true
		return
	}
	p.roles[tenant] = max(p.roles[tenant], r)
}

// Who is who asks: a principal, and by what it showed that it is. The zero value is a caller without credentials.
type Who struct {
	*Principal
	// Means is by what it was recognized, with its name there: token:ci, nkey:U…, cert:build, oidc:alice.
	Means string
	// Tenant is set for a caller whom NATS permitted to use the subjects of this tenant. It has all rights there, and
	// Principal is nil.
	Tenant string
	// Most is the strongest role that it has in the tenant of its request, whatever the file says: a node that passes a
	// request on says how much the caller may do by its own file. nil: there is no such bound.
	Most *Role
	// Refusal says why what a caller has shown does not count; "": it has shown nothing, or nothing is to be said.
	Refusal string

	by *Table // by which the principal was recognized
}

// RoleIn returns the strongest role that the caller has in the tenant of its request.
func (w Who) RoleIn(tenant string) Role {
	if r := w.Principal.RoleIn(tenant); w.Most == nil || r < *w.Most {
		return r
	}
	return *w.Most
}

// Can reports whether the caller may use a verb in the tenant of its request; see [Principal.Can].
func (w Who) Can(verb, tenant string) bool { return w.Principal.Can(verb, tenant) && w.isWithin(verb) }

// isWithin reports whether Most permits a verb.
func (w Who) isWithin(verb string) bool {
	n := needs[verb]
	return w.Most == nil || n.anywhere || n.role <= *w.Most
}

// By returns the name for the audit log; "" for a caller without credentials.
func (w Who) By() string { return w.Means }
