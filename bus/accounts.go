package bus

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/job"
)

// Tenant is what the embedded server provides for a tenant. Tenants that are not named have no account.
type Tenant struct {
	Name string
	// Storage is how many bytes the streams of its account may keep in files. 0: the account has no JetStream.
	Storage int64
	// Connections bounds its clients on one server, viewers and the connection of its runs included; 0 means [TenantConnectionsDefault].
	Connections int
}

// TenantConnectionsDefault bounds the clients of a tenant on one server if the tenant has no bound of its own.
const TenantConnectionsDefault = 1000

// tenantStreamsMax and tenantConsumersMax bound what JetStream keeps in memory for a tenant.
const (
	tenantStreamsMax   = 100
	tenantConsumersMax = 1000
	// storesNothing is the limit of an account whose streams may store nothing more: 0 would be none.
	storesNothing = 1
)

// accounts are the accounts of the tenants on the embedded server. Those on the servers of a cluster have the same names,
// and know each other by them. Safe for concurrent use.
//
// The server's own account has the log, the streams and the subjects of Carillon; it is the default account, in which
// everything of a server without rights is. So a directory gains rights without any of it being moved.
//
// Both accounts of each tenant are there from the start, because a server forgets what another one tells about an account
// that it does not know: it would then not pass on messages to the clients there. What an account imports is added for
// its first client.
type accounts struct {
	server *server.Server
	prefix string
	stored string // directory of the streams
	logger *slog.Logger

	mu      sync.Mutex
	own     *server.Account            // exports what tenants import; nil until the first of them
	open    map[string]*server.Account // those that have their imports, by name
	tenants map[string]Tenant          // those that there are now, by name
}

func newAccounts(s *server.Server, o Options) *accounts {
	a := &accounts{server: s, prefix: o.Prefix, stored: o.StoreDir, logger: o.Logger, open: make(map[string]*server.Account)}
	a.note(o.Tenants)
	return a
}

// setAccounts gives the options of a server the accounts of tenants. Its own account is among them, because it has
// JetStream without being named only if it is the only one. The limits of an account can be set before the start by the
// text of a configuration alone, and there the name of the server's own account is refused; so that is written later.
func setAccounts(so *server.Options, tenants []Tenant) error {
	const own = "own:" // no tenant has this name
	text := fmt.Sprintf("%q: {jetstream: enabled}\n", own)
	former, err := leftBehind(so.StoreDir, tenants)
	if err != nil {
		return err
	}
	for _, name := range former {
		text += fmt.Sprintf("%q: {jetstream: {max_memory: 0, max_store: -1, max_streams: %d, max_consumers: %d}}\n", name, tenantStreamsMax, tenantConsumersMax)
	}
	for _, t := range tenants {
		so.Accounts = append(so.Accounts, server.NewAccount(accountName(t.Name, true)))
		if t.Storage > 0 {
			l := limitsOf(t.Storage)
			text += fmt.Sprintf("%q: {jetstream: {max_memory: %d, max_store: %d, max_streams: %d, max_consumers: %d}}\n", t.Name, l.MaxMemory, l.MaxStore, l.MaxStreams, l.MaxConsumers)
			continue
		}
		so.Accounts = append(so.Accounts, server.NewAccount(accountName(t.Name, false)))
	}
	so.Accounts = append(so.Accounts, server.NewAccount(server.DEFAULT_SYSTEM_ACCOUNT))
	var parsed server.Options
	if err := parsed.ProcessConfigString("accounts {\n" + text + "}\n"); err != nil {
		return fmt.Errorf("the accounts of tenants: %w", err)
	}
	for _, account := range parsed.Accounts {
		if account.Name == own {
			account.Name = server.DEFAULT_GLOBAL_ACCOUNT
		}
	}
	so.Accounts = append(so.Accounts, parsed.Accounts...)
	return nil
}

// limitsOf returns the limits of the JetStream of a tenant. Memory is 0: it would be the process's own.
func limitsOf(storage int64) server.JetStreamAccountLimits {
	return server.JetStreamAccountLimits{
		MaxMemory: 0, MaxStore: storage, MaxStreams: tenantStreamsMax, MaxConsumers: tenantConsumersMax,
		MaxAckPending: -1, MemoryMaxStreamBytes: -1, StoreMaxStreamBytes: -1,
	}
}

// note keeps what is known of tenants. The caller holds mu, or is the only one to know a.
func (a *accounts) note(tenants []Tenant) {
	a.tenants = make(map[string]Tenant, len(tenants))
	for _, t := range tenants {
		a.tenants[t.Name] = t
	}
}

// set makes the accounts of tenants, and changes their limits. It is called after each change of the rights, and returns
// the names of new accounts. Streams that cannot be had are logged: their tenant alone does without. A tenant that has no
// storage any more keeps its streams until the next start, and they store nothing more; the account of one that is gone has no clients.
func (a *accounts) set(tenants []Tenant) (added []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note(tenants)
	for _, t := range tenants {
		_, _ = a.server.LookupOrRegisterAccount(accountName(t.Name, true))
		account, isNew := a.server.LookupOrRegisterAccount(accountName(t.Name, false))
		if isNew {
			added = append(added, t.Name)
		}
		if err := a.store(account, t); err != nil {
			a.logger.Error("the streams of a tenant are not available", slog.String(job.LogTenant, t.Name), slog.Any("error", err))
		}
	}
	return added
}

// store gives the account of a tenant JetStream, or changes its limits. In a cluster the server does not begin the streams that the
// tenant had when the server started: see left_behind.go.
func (a *accounts) store(account *server.Account, t Tenant) error {
	limits := map[string]server.JetStreamAccountLimits{"": limitsOf(max(t.Storage, storesNothing))}
	switch {
	case account.JetStreamEnabled():
		return account.UpdateJetStreamLimits(limits)
	case t.Storage == 0:
		return nil
	}
	hadStreams := a.server.JetStreamIsClustered() && hasStreams(a.stored, t.Name)
	err := account.EnableJetStream(limits, nil)
	if err == nil && hadStreams {
		err = errors.New("the tenant had no storage when this node started; want all nodes started again")
	}
	return err
}

// of returns the account for a guest in a tenant, and the bound on its clients.
func (a *accounts) of(tenant string, asksOnly bool) (account *server.Account, clientsMax int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, known := a.tenants[tenant]
	if !known {
		return nil, 0, fmt.Errorf("the tenant %s has no account on the NATS server; want it under tenants in the file of rights of each node", tenant)
	}
	name := accountName(tenant, asksOnly)
	if account = a.open[name]; account == nil {
		account, _ = a.server.LookupOrRegisterAccount(name)
		if err = a.fill(account, tenant, asksOnly); err != nil {
			return nil, 0, fmt.Errorf("make the account %s: %w", name, err)
		}
		a.open[name] = account
	}
	return account, cmp.Or(t.Connections, TenantConnectionsDefault), nil
}

// clientsOf returns the number of clients of a tenant on this server, in both of its accounts.
func (a *accounts) clientsOf(tenant string) (clients int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, asksOnly := range []bool{false, true} {
		if account := a.open[accountName(tenant, asksOnly)]; account != nil {
			clients += account.NumLocalConnections()
		}
	}
	return clients
}

// The subjects between the accounts. Requests of tenants come on subjects of their own, so that one without the header
// that names its caller is never taken for a request from Carillon's own account.
func (a *accounts) requests(tenant string) (theirs, ours string) {
	return a.prefix + ".v1." + tenant + ".>", a.prefix + ".account.v1." + tenant + ".>"
}

// discovery are the questions of `nats micro`: what a tenant asks of all services reaches Carillon's service alone.
var discovery = []string{"PING", "INFO", "STATS"}

const discovered = "carillon"

// discoveredAll stands in place of an instance where a tenant asks all instances of the service by its name.
const discoveredAll = "all"

// export lets tenants import from Carillon's account. Only this package makes imports, each for its own tenant.
func (a *accounts) export() error {
	if a.own != nil {
		return nil
	}
	own := a.server.GlobalAccount()
	err := own.AddServiceExport(a.prefix+".account.v1.>", nil)
	for _, verb := range discovery {
		subject := "$SRV." + verb + "." + discovered
		err = errors.Join(err, own.AddServiceExportWithResponse(subject, server.Streamed, nil), own.AddServiceExportWithResponse(subject+".>", server.Streamed, nil))
	}
	err = errors.Join(err, own.AddStreamExport(a.prefix+".dead.*", nil), own.AddStreamExport(a.prefix+".events.>", nil))
	if err != nil {
		return fmt.Errorf("export to the accounts of tenants: %w", err)
	}
	a.own = own
	return nil
}

// fill imports into an account what its tenant may use. Share makes the server name the caller in Nats-Request-Info.
func (a *accounts) fill(account *server.Account, tenant string, asksOnly bool) error {
	if err := a.export(); err != nil {
		return err
	}
	theirs, ours := a.requests(tenant)
	err := account.AddServiceImport(a.own, theirs, ours)
	if err == nil {
		err = account.SetServiceImportSharing(a.own, ours, true)
	}
	for _, verb := range discovery {
		ours := "$SRV." + verb + "." + discovered
		// Sharing is set by the subject of the other account, so each import has one of its own.
		for from, to := range map[string]string{"$SRV." + verb: ours, ours: ours + "." + discoveredAll, ours + ".>": ours + ".>"} {
			err = errors.Join(err, account.AddServiceImport(a.own, from, to), account.SetServiceImportSharing(a.own, to, true))
		}
	}
	if asksOnly {
		return err
	}
	dead, events := a.prefix+".dead."+tenant, a.prefix+".events."+tenant+".>"
	return errors.Join(err, account.AddStreamImport(a.own, dead, ""), account.AddStreamImport(a.own, events, ""))
}
