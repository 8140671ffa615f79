package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/job"
)

// A listener that other machines reach must have what protects it: rights and TLS for clients, a password or mutual TLS
// for peers. The options are refused otherwise, unless they say that it is meant. This is the only place that decides so.

// insecureEvery is the time between two warnings of a server that runs with Options.Insecure.
const insecureEvery = time.Hour

// opening is a listener that the options ask for.
type opening struct {
	flag, addr string
	tls        string // the beginning of the flags of its certificate
	files      certs.Files
	isForPeers bool
}

// exposure is a listener that other machines reach, and what it lacks.
type exposure struct {
	addr   string
	what   string // what is wrong about it: "open to others"
	effect string // what follows from that
	give   string // what the options have to give
	or     string // or what they have to say
}

// openings returns the listeners that the options ask for. With outside NATS servers there is none for NATS, and without
// a cluster none for peers. Profiles are not among them: they are for this machine, whatever the options say.
func (o Options) openings() []opening {
	all := []opening{{"--http-listen", o.HTTPListen, "--http-tls", o.HTTPTLS, false}}
	if o.NATSURL == "" {
		all = append(all, opening{"--listen", o.Listen, "--listen-tls", o.ListenTLS, false})
	}
	if o.clusterEmbedded() {
		all = append(all, opening{"--cluster-listen", o.ClusterListen, "--cluster-tls", o.ClusterTLS, true})
	}
	return all
}

// tlsFlags names the flags of a listener's certificate, as a message shows them.
func (l opening) tlsFlags() string {
	flags := l.tls + "-cert/" + l.tls + "-key"
	if l.isForPeers {
		flags += "/" + l.tls + "-ca"
	}
	return flags
}

// exposure returns what a listener lacks, and reports whether it lacks anything.
func (o Options) exposure(l opening) (exposure, bool) {
	hasTLS := l.files.IsSet() || o.Plaintext
	open := exposure{l.addr, "open to others", "every caller may do everything", "--auth FILE", "--insecure"}
	switch {
	case bus.OnLoopback(l.addr):
		return exposure{}, false
	case l.isForPeers:
		open.effect, open.give = "every program that reaches it may join the cluster", "CARILLON_CLUSTER_PASSWORD or --cluster-password-file FILE, or "+l.tlsFlags()
		return open, o.ClusterPassword == "" && !l.files.IsSet()
	case o.Auth == "" && !hasTLS:
		open.give += " and " + l.tlsFlags()
		return open, true
	case o.Auth == "":
		return open, true
	}
	return exposure{
		l.addr, "without TLS", "tokens and data can be read on their way", l.tlsFlags(), "--plaintext if a proxy in front of it terminates TLS",
	}, !hasTLS
}

// exposures returns the listeners that lack something.
func (o Options) exposures() (all []exposure) {
	for _, l := range o.openings() {
		if e, ok := o.exposure(l); ok {
			all = append(all, e)
		}
	}
	return all
}

// checkExposure refuses options that would open a listener to other machines without what protects it. Each listener has
// a message of its own.
func (o Options) checkExposure() error {
	errs := []error{o.validateHTTPHosts()}
	for _, l := range o.openings() {
		if err := bus.ValidateListen(l.addr); err != nil {
			errs = append(errs, fmt.Errorf("options: %s is %q; %w", l.flag, l.addr, err))
		}
	}
	if err := errors.Join(errs...); err != nil || o.Insecure {
		return err
	}
	return o.refuseExposure()
}

// refuseExposure returns an error for each listener that lacks something.
func (o Options) refuseExposure() error {
	var errs []error
	for _, e := range o.exposures() {
		errs = append(errs, fmt.Errorf("%s would be %s: give %s, or %s", e.addr, e.what, e.give, e.or))
	}
	return errors.Join(errs...)
}

// insecurity says what Options.Insecure leaves open; "" if it is not set.
func (o Options) insecurity() string {
	if !o.Insecure {
		return ""
	}
	var parts []string
	for _, e := range o.exposures() {
		parts = append(parts, fmt.Sprintf("%s is %s: %s", e.addr, e.what, e.effect))
	}
	if len(parts) == 0 {
		parts = append(parts, "no address of this server is open to others now; leave the flag out")
	}
	return "this server runs with --insecure: " + strings.Join(parts, "; ")
}

// warnInsecure logs what --insecure leaves open, now and every hour.
func (s *Server) warnInsecure(context.Context) error {
	text := s.opts.insecurity()
	if text == "" {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopWarning = stop
	s.opts.Logger.Warn(text)
	s.background.Go(func() { warnEvery(ctx, s.opts.Logger, text, insecureEvery) })
	return nil
}

// warnEvery logs a warning at each interval until ctx ends.
func warnEvery(ctx context.Context, logger *slog.Logger, text string, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			logger.Warn(text)
		}
	}
}

// furtherWarnings returns the warnings of the status besides those of the surroundings.
func (s *Server) furtherWarnings() (warnings []string) {
	for _, text := range []string{s.opts.insecurity(), s.opts.weakPassword()} {
		if text != "" {
			warnings = append(warnings, text)
		}
	}
	if b := s.opened.Load(); b != nil {
		warnings = slices.Concat(warnings, b.Strangers(), b.Broken())
	}
	if s.opts.Warnings != nil {
		warnings = append(warnings, s.opts.Warnings()...)
	}
	return append(warnings, s.access.Warnings()...)
}

// pinLocalhost replaces the name localhost by the address, so that the listener is where the check of the options has
// supposed it to be, whatever the machine resolves the name to.
func (o *Options) pinLocalhost() {
	for _, addr := range []*string{&o.Listen, &o.HTTPListen, &o.ClusterListen, &o.ProfileListen} {
		if host, port, err := net.SplitHostPort(*addr); err == nil && job.IsThisMachine(host) && net.ParseIP(host) == nil {
			*addr = net.JoinHostPort("127.0.0.1", port)
		}
	}
}
