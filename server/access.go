package server

import (
	"context"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/job"
)

// openAccess reads the file of rights, if there is one, and watches it.
func (s *Server) openAccess(context.Context) (err error) {
	if s.opts.Auth == "" {
		return nil
	}
	if s.access, err = access.Open(s.opts.Auth, s.opts.Logger, s.reviewClients); err != nil {
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

// admits decides who may connect to the embedded NATS server: cluster admins, because a client there can reach the
// subjects of all tenants. nil: every client may.
func (s *Server) admits() func(bus.Shown) (func() bool, bool) {
	if s.access == nil {
		return nil
	}
	return func(shown bus.Shown) (still func() bool, ok bool) {
		still = func() bool { return s.access.Table().WhoHas(shown.Token, shown.NKey).IsClusterAdmin() }
		return still, still()
	}
}

// reviewClients disconnects the clients whose rights have ended. It is called after each change of the rights.
func (s *Server) reviewClients() {
	if b := s.opened.Load(); b != nil {
		b.ReviewClients()
	}
}

// Reload reads the file of rights and the certificates again, as it is done when they change. Bad files keep what is in
// force, and are logged.
func (s *Server) Reload() {
	_ = s.CheckCertificates() // it has logged what it returns
	if s.access != nil {
		s.access.Reload()
	}
}

// OptionsError is the error of a start that did nothing, because its options are wrong or would open the server to
// others.
type OptionsError struct{ cause error }

// Error implements error.
func (e *OptionsError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *OptionsError) Unwrap() error { return e.cause }
