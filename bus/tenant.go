package bus

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/dispatch"
)

// HasAccounts reports whether each tenant has an account of its own on the embedded server.
func (b *Bus) HasAccounts() bool { return b.doorman != nil }

// ConnectTenant makes a connection in the account of a tenant, on which its runs are launched. The caller closes it. It
// fails if tenants have no accounts. Safe for concurrent use.
func (b *Bus) ConnectTenant(tenant string) (*dispatch.NATS, error) {
	if !b.HasAccounts() {
		return nil, fmt.Errorf("connect for the tenant %s: tenants have no accounts here", tenant)
	}
	options := append(b.options("carillon dispatch "+tenant), nats.UserInfo(tenantUser+tenant, ""))
	return dispatch.ConnectNATS(b.url, options...)
}
