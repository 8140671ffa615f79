package bus

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/dispatch"
)

// HasAccounts reports whether each tenant has an account of its own on the embedded server.
func (b *Bus) HasAccounts() bool { return b.doorman != nil }

// ConnectTenant makes a connection in the account of a tenant, on which its runs are launched. The caller closes it. It
// fails if the tenant has none. Safe for concurrent use.
func (b *Bus) ConnectTenant(tenant string) (*dispatch.NATS, error) {
	if !b.HasAccounts() {
		return nil, fmt.Errorf("connect for the tenant %s: tenants have no accounts here", tenant)
	}
	// The server itself would only say that it refuses.
	if _, _, err := b.doorman.accounts.of(tenant, false); err != nil {
		return nil, err
	}
	options := append(b.options("carillon dispatch "+tenant), nats.UserInfo(tenantUser+tenant, ""))
	return dispatch.ConnectNATS(b.url, options...)
}
