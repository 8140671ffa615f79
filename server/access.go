package server

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/job"
)

// openAccess reads the file of rights, if there is one, and watches it.
func (s *Server) openAccess(context.Context) (err error) {
	if s.opts.Auth == "" {
		return nil
	}
	var checks []func(*access.Table) error
	if s.opts.NATSURL == "" {
		checks = append(checks, (*access.Table).CheckPrincipals)
	}
	if s.access, err = access.Open(s.opts.Auth, s.opts.Logger, s.reviewClients, checks...); err != nil {
		return &OptionsError{err}
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopAccess = stop
	s.background.Go(func() { s.access.Watch(ctx) })
	return nil
}

// rules returns the checks of definitions. What the file of rights says of targets holds from its next read on.
func (s *Server) rules() job.Rules {
	o := &s.opts
	r := job.Rules{
		Prefix: o.Prefix, InboxPrefixes: o.InboxPrefixes, PayloadBytesMax: o.PayloadBytesMax, AllowPrivateTargets: o.AllowPrivateTargets,
		Secrets: o.SecretsDir != "",
	}
	if s.access != nil {
		r.Targets = func(tenant string) job.Targets { return s.access.Tenant(tenant).Targets }
	}
	return r
}

// admits decides who may connect to the embedded NATS server, and to which account: a principal to that of its tenant,
// and a cluster admin to Carillon's own. nil: every client may connect.
func (s *Server) admits() func(bus.Shown) (bus.Guest, error) {
	if s.access == nil {
		return nil
	}
	return func(shown bus.Shown) (bus.Guest, error) {
		table := s.access.Table()
		who := table.WhoHas(shown.Token, shown.NKey)
		place, err := table.PlaceOf(who, shown.User)
		if err != nil {
			return bus.Guest{}, err
		}
		g := bus.Guest{Name: who.By(), Tenant: place.Tenant, Role: guestRoles[place.Role]}
		if who.IsClusterAdmin() {
			g.Role = bus.GuestGoverns
		}
		return g, nil
	}
}

// governs reports whether a client that the server of NATS names is an admin of all tenants.
func (s *Server) governs(user string) bool {
	who := s.named(user)
	return who.Principal != nil && who.IsClusterAdmin()
}

// named returns the caller whom the server of NATS names. It calls the user of a key by the key.
func (s *Server) named(user string) access.Who {
	if !strings.Contains(user, ":") {
		user = "nkey:" + user
	}
	return s.access.Table().Named(user)
}

// guestRoles are the roles in the account of a tenant.
var guestRoles = [...]bus.GuestRole{access.Viewer: bus.GuestAsks, access.Operator: bus.GuestWorks, access.Admin: bus.GuestManages}

// caller returns who sends a request from the account of a tenant. The server of NATS names the account and the user.
func (s *Server) caller(tenant, account, user string) access.Who {
	if bus.TenantOf(account) != tenant {
		return access.Who{}
	}
	return s.named(user)
}

// callers returns what recognizes the callers from the accounts of tenants; nil if there are none.
func (s *Server) callers() func(tenant, account, user string) access.Who {
	if s.access == nil || s.opts.NATSURL != "" {
		return nil
	}
	return s.caller
}

// natsTenants returns what the embedded NATS server provides for the tenants of the file of rights; none without it.
func (s *Server) natsTenants() (tenants []bus.Tenant) {
	if s.access == nil {
		return nil
	}
	table := s.access.Table()
	for _, name := range table.TenantNames() {
		n := table.Tenant(name).NATS
		tenants = append(tenants, bus.Tenant{Name: name, Storage: n.Storage, Connections: int(n.Connections)})
	}
	return tenants
}

// reviewClients makes the accounts of new tenants, disconnects the clients whose rights have changed, and sends runs where
// they now belong. It is called after each change of the rights.
func (s *Server) reviewClients() {
	if b := s.opened.Load(); b != nil {
		b.ReviewClients(s.natsTenants())
	}
	if d := s.sending.Load(); d != nil {
		d.ReviewTenants()
	}
	s.reviewAccounts()
	select {
	case s.reread <- struct{}{}:
	default: // the last one was not seen yet
	}
}

// accountConns returns the connections on which requests come from the accounts of tenants; nil if there are no accounts.
func (s *Server) accountConns() func() (map[string]*nats.Conn, error) {
	if !s.bus.HasAccounts() {
		return nil
	}
	return func() (map[string]*nats.Conn, error) { return s.bus.AccountConns(s.access.Table().TenantNames()) }
}

// tenantNATS returns what connects in the account of a tenant; nil if tenants have none.
func (s *Server) tenantNATS() func(tenant string) (*dispatch.NATS, error) {
	if !s.bus.HasAccounts() {
		return nil
	}
	return s.bus.ConnectTenant
}

// sharesNATS reports whether the runs of a tenant go to Carillon's own account.
func (s *Server) sharesNATS(tenant string) bool { return s.access.Tenant(tenant).NATS.IsShared }

// Reload reads the file of rights and the certificates again, as it is done when they change. Bad files keep what is in
// force, and are logged.
func (s *Server) Reload() {
	_ = s.CheckCertificates() // it has logged what it returns
	if s.access != nil {
		s.access.Reload()
	}
}

// OptionsError is the error of a start that did nothing, because its options, or files that they name, are wrong or would
// open the server to others. The same start fails again until they are changed.
type OptionsError struct{ cause error }

// Error implements error.
func (e *OptionsError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *OptionsError) Unwrap() error { return e.cause }
