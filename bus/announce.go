package bus

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go"
)

// ReviewClients makes the accounts of new tenants, and disconnects those clients of the embedded server whom Options.Admit
// does not admit to the same account in the same role any more. It is called after each change of the rights. It does
// nothing without an embedded server, and if every client is admitted.
func (b *Bus) ReviewClients(tenants []Tenant) {
	if b.embedded == nil || b.doorman == nil {
		return
	}
	if added := b.doorman.accounts.set(tenants); len(added) > 0 {
		b.announce(added)
	}
	b.doorman.review()
}

// accountsSubject is where a server of a cluster names the accounts that it has made since its start.
func (b *Bus) accountsSubject() string { return b.opts.Prefix + ".cluster.accounts" }

// announce tells the other servers of a cluster that this one has made accounts. What they had told it before about
// clients there is lost, so they let these clients connect again. A message that is lost leaves clients of a new tenant
// without messages from this server until they connect again.
func (b *Bus) announce(names []string) {
	if !b.opts.clustered() || b.api == nil {
		return
	}
	if err := b.api.Publish(b.accountsSubject(), []byte(b.embedded.ID()+" "+strings.Join(names, " "))); err != nil {
		b.opts.Logger.Warn("the other nodes do not know that this one has accounts for new tenants; clients there that connected before should connect again",
			slog.String("tenants", strings.Join(names, " ")), slog.Any("error", err))
	}
}

// heedAccounts begins to do what announce of other servers asks for. It ends with the connection.
func (b *Bus) heedAccounts() error {
	if !b.opts.clustered() || b.doorman == nil {
		return nil
	}
	_, err := b.api.Subscribe(b.accountsSubject(), func(m *nats.Msg) {
		server, names, _ := strings.Cut(string(m.Data), " ")
		if server != b.embedded.ID() {
			b.doorman.reconnect(strings.Fields(names))
		}
	})
	if err != nil {
		return fmt.Errorf("listen for accounts of other nodes: %w", err)
	}
	return nil
}
