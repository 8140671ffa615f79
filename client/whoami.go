package client

import "context"

// WhoamiRequest asks who the caller is. It has no members.
type WhoamiRequest struct{}

// Whoami says who the caller is to a server, and what it may do there.
type Whoami struct {
	// Open: the server has no file of rights, so each caller who reaches it may do everything. Principal, Means and By are
	// "" then, and Grants is empty.
	Open bool `json:"open"`
	// Principal is the name in the file of rights; of a person with the groups of several principals, their names with
	// commas between. "": NATS servers of your own say what the caller may do.
	Principal string `json:"principal,omitempty"`
	// Means is by what the caller was recognized: token, nkey, cert, oidc, or nats (the permissions of NATS).
	Means string `json:"means,omitempty"`
	By    string `json:"by,omitempty"` // the name in the audit log, such as token:ci
	// Grants has a role for each tenant, sorted by the tenant: at most 1,000, and MoreGrants says how many are left out.
	Grants     []Grant  `json:"grants"`
	MoreGrants int      `json:"more_grants"`
	Metrics    bool     `json:"metrics"` // the caller may read /metrics
	Server     Answerer `json:"server"`
}

// Grant is a role in a tenant.
type Grant struct {
	Tenant string `json:"tenant"` // "*": all tenants
	Role   string `json:"role"`   // viewer, operator, admin
}

// Answerer is the server that has answered. Over HTTP it is the node to which the request went, over NATS the leader.
type Answerer struct {
	Node    string `json:"node,omitempty"` // "" on a server without a cluster
	Role    string `json:"role"`           // leader, standby, candidate, joining
	Version string `json:"version"`
}

// Whoami returns who the caller is to the server, and what it may do there. Each caller whom the server knows may ask,
// whatever its roles.
func (c *Client) Whoami(ctx context.Context) (Whoami, error) {
	return ask[Whoami](ctx, c, "whoami", WhoamiRequest{})
}
