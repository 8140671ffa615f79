package api

import (
	"context"
	"strings"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// grantsMax bounds the grants in a reply, so that it fits into the room of a list. A principal with more has to be read in
// the file of rights.
const grantsMax = 1000

// whoamiMembers are none: the reply is about the caller alone.
var whoamiMembers = object[client.WhoamiRequest]{}

// whoami says who the caller is. The tenant is ignored: the caller is told of all its roles.
func (x *Executor) whoami(ctx context.Context, _ string, _ *client.WhoamiRequest) (any, error) {
	return x.opts.Whoami(x.engineStatus(), x.opts.Access, whoOf(ctx)), nil
}

// Whoami returns who a caller is to a node with these rights, and what it may do; nil rights permit everything. The caller
// of Whoami owns the result.
func (n *Node) Whoami(engine scheduler.Status, rights *access.Keeper, who access.Who) *client.Whoami {
	w := &client.Whoami{Open: rights == nil, Server: n.answerer(engine), Grants: []client.Grant{}}
	if w.Open {
		w.Metrics = true
		return w
	}
	if who.Principal != nil {
		w.Principal = who.Name
	}
	w.By, w.Metrics = who.By(), who.MayReadMetrics()
	w.Means, _, _ = strings.Cut(w.By, ":")
	grants := who.Grants()
	if len(grants) > grantsMax {
		w.MoreGrants = len(grants) - grantsMax
		grants = grants[:grantsMax]
	}
	for _, g := range grants {
		w.Grants = append(w.Grants, client.Grant{Tenant: g.Tenant, Role: g.Role.String()})
	}
	return w
}

// answerer returns what a node says of itself to a caller who may have no role.
func (n *Node) answerer(engine scheduler.Status) client.Answerer {
	a := client.Answerer{Role: engine.Role, Version: n.Version}
	if n.Cluster != nil {
		c := n.Cluster()
		a.Node, a.Role = c.Node, c.Role
	}
	return a
}
