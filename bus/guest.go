package bus

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// Guest is a client whom Options.Admit admits to the embedded server, as the caller of Carillon's API sees it.
type Guest struct {
	// Name is the user in Nats-Request-Info of its requests. A client with a key is named there by the key instead.
	Name string
	// Tenant is the tenant in whose account it is; "" is Carillon's own account, in which all subjects and streams are.
	Tenant string
	// Role decides what it may use in the account of a tenant. It has no meaning in Carillon's own.
	Role GuestRole
}

// GuestRole says what a client may do in the account of a tenant, besides requests to Carillon, which the API decides.
type GuestRole byte

// The roles, from the weakest to the strongest.
const (
	// GuestAsks may send requests, and nothing else: it is in an account of its own, in which nothing is published. So it
	// sees no payload of a run, no dead letter, no event, and no reply to another role.
	GuestAsks GuestRole = iota
	// GuestWorks may also use all subjects of the tenant, and consume its streams.
	GuestWorks
	// GuestManages may also make, change and delete streams.
	GuestManages
	// GuestGoverns may also restore them from a snapshot. It is an admin of all tenants.
	GuestGoverns
)

// asksSuffix ends the name of the account of those that only ask. Names of tenants have no colon.
const asksSuffix = ":ask"

// accountName returns the name of the account of a tenant.
func accountName(tenant string, asksOnly bool) string {
	if asksOnly {
		return tenant + asksSuffix
	}
	return tenant
}

// TenantOf returns the tenant of the name of an account. Carillon's own account, and that of the server, have none.
func TenantOf(account string) string {
	if strings.HasPrefix(account, "$") {
		return ""
	}
	return strings.TrimSuffix(account, asksSuffix)
}

// streamChanges are the requests of JetStream that change or show a whole stream. Only admins may send them, and the
// [jsGuard] decides about each.
var streamChanges = []string{
	"$JS.API.STREAM.CREATE.>", "$JS.API.STREAM.UPDATE.>", "$JS.API.STREAM.DELETE.>", "$JS.API.STREAM.PURGE.>",
	"$JS.API.STREAM.RESTORE.>", "$JS.API.STREAM.SNAPSHOT.>", "$JS.API.STREAM.MSG.DELETE.>", "$JS.API.STREAM.PEER.>",
	"$JS.API.STREAM.LEADER.>", "$JS.API.STREAM.TEMPLATE.>", "$JS.API.STREAM.CANCEL_MOVE.>",
}

// restoredParts are the subjects on which JetStream receives the parts of a snapshot that it restores.
const restoredParts = "$JS.SNAPSHOT.RESTORE.>"

// permissions returns what a client in the account of a tenant may not do. Requests to Carillon have credentials in them,
// so no client of the account may receive those of the others, and none may publish what only Carillon publishes there.
func (g Guest) permissions(prefix string) *server.Permissions {
	pub := []string{prefix + ".dead.>", prefix + ".events.>"}
	if g.Role < GuestManages {
		pub = append(pub, streamChanges...)
	}
	if g.Role < GuestGoverns {
		pub = append(pub, restoredParts)
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Deny: pub},
		Subscribe: &server.SubjectPermission{Deny: []string{prefix + ".v1.>"}},
	}
}

// user returns how the server is to know the client.
func (g Guest) user(prefix string, account *server.Account) *server.User {
	u := &server.User{Username: g.Name, Account: account}
	if account != nil {
		u.Permissions = g.permissions(prefix)
	}
	return u
}

// String names the client and its account, for logs.
func (g Guest) String() string {
	if g.Tenant == "" {
		return fmt.Sprintf("%s in Carillon's account", g.Name)
	}
	return fmt.Sprintf("%s in the account %s", g.Name, accountName(g.Tenant, g.Role == GuestAsks))
}
