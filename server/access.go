package server

import (
	"context"

	"github.com/carillon-io/carillon/access"
)

// openAccess reads the file of rights, if there is one, and watches it.
func (s *Server) openAccess(context.Context) (err error) {
	if s.opts.Auth == "" {
		return nil
	}
	if s.access, err = access.Open(s.opts.Auth, s.opts.Logger); err != nil {
		return &OptionsError{err}
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopAccess = stop
	s.background.Go(func() { s.access.Watch(ctx) })
	return nil
}

// Reload reads the file of rights again, as it is done when the file changes. A bad file keeps the rights that are in
// force.
func (s *Server) Reload() {
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
