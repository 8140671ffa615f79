package access

import (
	"github.com/carillon-io/carillon/job"
)

// Tenant is what the file of rights says of a tenant. The zero value restricts nothing.
type Tenant struct {
	Targets job.Targets
	Quota   Quota
	NATS    NATS
}

func readTenant(to *Tenant, what string) func(*node) error {
	return func(n *node) error {
		return readMapping(n, what,
			key{name: "targets", read: func(n *node) error { return readTargets(n, "targets of "+what, &to.Targets) }},
			key{name: "quota", read: func(n *node) error { return readQuota(n, "quota of "+what, &to.Quota) }},
			key{name: "nats", read: func(n *node) error { return readNATS(n, "nats of "+what, &to.NATS) }})
	}
}
