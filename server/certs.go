package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/metrics"
)

// keepers have the certificates of the listeners; nil: a listener has no TLS.
type keepers struct {
	http, listen, cluster *certs.Keeper
}

// all returns the keepers that there are.
func (k keepers) all() (found []*certs.Keeper) {
	for _, one := range []*certs.Keeper{k.http, k.listen, k.cluster} {
		if one != nil {
			found = append(found, one)
		}
	}
	return found
}

// listenTLS returns the configuration of the embedded server for clients; nil: no TLS.
func (k keepers) listenTLS() *tls.Config {
	if k.listen == nil {
		return nil
	}
	return k.listen.Server(tls.RequireAndVerifyClientCert)
}

// clusterTLS returns the configuration of the embedded server for peers; nil: no TLS.
func (k keepers) clusterTLS() *tls.Config {
	if k.cluster == nil {
		return nil
	}
	return k.cluster.Peers()
}

// openCerts reads the certificates of the listeners, and begins to watch their files.
func (s *Server) openCerts() error {
	for _, one := range []struct {
		name  string
		files certs.Files
		peers bool
		to    **certs.Keeper
	}{
		{"http", s.opts.HTTPTLS, false, &s.certs.http},
		{"listen", s.opts.ListenTLS, false, &s.certs.listen},
		{"cluster", s.opts.ClusterTLS, true, &s.certs.cluster},
	} {
		if !one.files.IsSet() {
			continue
		}
		k, err := certs.Open(certs.Options{Name: one.name, Files: one.files, Peers: one.peers, Logger: s.opts.Logger})
		if err != nil {
			return &OptionsError{fmt.Errorf("--%s-tls-cert: %w", one.name, err)}
		}
		*one.to = k
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopCerts = stop
	for _, k := range s.certs.all() {
		s.background.Go(func() { k.Watch(ctx) })
	}
	return nil
}

// CheckCertificates reads the files of the certificates now, instead of within ten seconds. The error says which files
// are not used, and why; what was read before stays in use then.
func (s *Server) CheckCertificates() error {
	var errs []error
	for _, k := range s.certs.all() {
		errs = append(errs, k.Check())
	}
	return errors.Join(errs...)
}

// httpURL returns the address of HTTP for a client on this machine.
func (s *Server) httpURL() string {
	scheme := "http://"
	if s.certs.http != nil {
		scheme = "https://"
	}
	return scheme + bus.Reachable(s.listener.Addr())
}

// surroundings are those of the bus, and the certificates of this process.
type surroundings struct {
	*bus.Surroundings
	certs keepers
}

// Warnings implements [api.Surroundings].
func (a surroundings) Warnings() []string {
	found := slices.Clone(a.Surroundings.Warnings())
	for _, k := range a.certs.all() {
		found = append(found, k.Warnings()...)
	}
	return found
}

// aboutCertificates returns the function that describes the certificates for metrics; nil if there are none.
func (s *Server) aboutCertificates() func() []metrics.Certificate {
	keepers := s.certs.all()
	if len(keepers) == 0 {
		return nil
	}
	return func() (all []metrics.Certificate) {
		for _, k := range keepers {
			now := k.State()
			all = append(all, metrics.Certificate{Listener: now.Name, Ends: now.Ends, CAEnds: now.CAEnds, Reloads: now.Reloads, Failures: now.Failures, IsBad: now.IsBad})
		}
		return all
	}
}
