package server

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/datadir"
)

// ErrPrefixServed is returned by Start if another server, or a cluster whose log is in NATS, serves the prefix.
var ErrPrefixServed = bus.ErrPrefixServed

// flushTimeMax bounds how long NATS may take to know a subscription.
const flushTimeMax = 5 * time.Second

// busOptions returns the options of the way to NATS.
func (s *Server) busOptions() bus.Options {
	o := &s.opts
	return bus.Options{
		URL: o.NATSURL, Creds: o.Creds, TLSCert: o.TLSCert, TLSKey: o.TLSKey, TLSCA: o.TLSCA,
		Listen: o.Listen, StoreDir: filepath.Join(o.Dir, datadir.NATSName), ConnectionsMax: natsConnections(filesMax()),
		Prefix: o.Prefix, Process: s.process, Inboxes: s.inboxes, Admit: s.admits(), Governs: s.governs, Refused: s.access.RefuseLogin, Tenants: s.natsTenants(),
		ClusterName: o.ClusterName, Node: o.Node, Witness: o.Witness, Founding: o.founding, ClusterListen: o.ClusterListen,
		Routes: o.Routes, ClusterPassword: o.ClusterPassword, NATSSyncs: o.NATSSyncs, Logger: o.Logger,
		ListenTLS: s.certs.listenTLS(), ClusterTLS: s.certs.clusterTLS(),
	}
}

// refuseMember returns ErrPrefixServed if a server without a cluster would start on the directory of a cluster
// member that has lost its file NODE.
func (s *Server) refuseMember(context.Context) error {
	if _, err := os.Lstat(filepath.Join(s.opts.Dir, datadir.NodeName)); err == nil || s.opts.NATSURL != "" {
		return nil // the file gives a better reason
	}
	return bus.RefuseMember(s.busOptions())
}

// watchJetStream ends this server, a member of the cluster's NATS, if it has lost JetStream.
func (s *Server) watchJetStream(context.Context) error {
	ctx, stop := context.WithCancel(context.Background())
	s.stopWatch = stop
	s.background.Go(func() { s.fail(s.bus.WatchJetStream(ctx)) })
	return nil
}

// watchPending bounds what the embedded NATS server holds for clients, if tenants have accounts there.
func (s *Server) watchPending(context.Context) error {
	ctx, stop := context.WithCancel(context.Background())
	s.stopPending = stop
	s.background.Go(func() { s.bus.WatchPending(ctx) })
	return nil
}

// openSurroundings claims the prefix, makes the first checks of what is around, and starts the regular ones.
func (s *Server) openSurroundings(ctx context.Context) (err error) {
	if s.around, err = s.bus.OpenSurroundings(ctx); err != nil {
		return err
	}
	watching, stop := context.WithCancel(context.Background())
	s.stopAround = stop
	s.background.Go(func() { s.around.Watch(watching) })
	return nil
}
