package carillon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/wal"
)

// openNode finds the cluster, or founds it, and begins to follow.
func (s *Server) openNode(ctx context.Context) error {
	o := &s.opts
	facts, err := s.bus.facts(ctx)
	if err != nil {
		return err
	}
	replicas := facts.replicas(o.Replicas)
	if s.warnings, err = s.bus.check(ctx, replicas); err != nil {
		return err
	}
	for _, w := range s.warnings {
		o.Logger.Warn(w, slog.String("node", o.Node))
	}
	conn, err := s.bus.connect("carillon log")
	if err != nil {
		return err
	}
	var id replication.ClusterID
	if text := s.data.identity.ClusterID; text != "" {
		if id, err = replication.ParseClusterID(text); err != nil {
			return err
		}
	}
	opts := replication.Options{
		Conn: conn, Prefix: o.Prefix, Cluster: o.ClusterName, Node: o.Node, ID: id,
		Local: o.Durability == DurabilityLocal, Replicas: replicas, StreamBytesMax: o.StreamBytesMax,
		Recreate: o.RecreateStream, Next: wal.Next, Linked: s.bus.isLinked, Inboxes: s.inboxes, Boot: bootClock, Logger: o.Logger,
	}
	if s.node, err = s.findCluster(ctx, opts); err != nil {
		return err
	}
	if err := s.data.identity.adopt(s.node.ID().String()); err != nil {
		return err
	}
	if err := s.openAnnouncer(ctx, s.data.identity.ClusterID); err != nil {
		return err
	}
	s.member = &member{server: s, data: s.data}
	s.node.Attach(s.member)
	return s.member.start()
}

// findAgain is the time between two tries to find the cluster.
const findAgain = 500 * time.Millisecond

// findCluster tries until JetStream can do what is asked: a stream with three replicas cannot be made
// before three servers are there.
func (s *Server) findCluster(ctx context.Context, opts replication.Options) (*replication.Node, error) {
	var said time.Time
	for {
		node, err := replication.NewNode(ctx, opts)
		if err == nil || replication.IsFinal(err) {
			return node, err
		}
		if time.Since(said) > awaitSayEvery {
			said = time.Now()
			s.opts.Logger.Info("waiting for the cluster", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(findAgain):
		}
	}
}

// isLinked tells whether the embedded server has a way to any of its peers.
func (b *bus) isLinked() bool { return b.embedded == nil || b.embedded.NumRoutes() > 0 }

// runNode lets the node live, and returns when it leads, or follows without a gap.
func (s *Server) runNode(ctx context.Context) error {
	nodeCtx, stop := context.WithCancel(context.Background())
	s.stopEngine = stop
	s.nodeDone = make(chan struct{})
	ready := make(chan string, 1)
	s.background.Go(func() {
		defer close(s.nodeDone)
		s.fail(s.node.Run(nodeCtx, func(role string) { ready <- role }))
	})
	select {
	case role := <-ready:
		st := s.member.Status()
		s.ready = Ready{NATS: s.bus.url, HTTP: "http://" + reachable(s.listener.Addr()), Role: role, Epoch: st.Epoch, Jobs: st.Jobs}
		return s.bus.flush(ctx)
	case <-s.nodeDone:
		select {
		case err := <-s.failed:
			return err
		default:
			return errors.New("the node has ended")
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// openClusterWeb answers HTTP from the beginning, so that operators see a node that joins.
func (s *Server) openClusterWeb(context.Context) error {
	s.serveWeb(s.member, func() *api.Service { return s.member.service.Load() })
	return nil
}

// closeNode hands over, if the node leads, and ends it.
func (s *Server) closeNode(ctx context.Context) {
	if s.nodeDone != nil {
		s.node.Resign()
		select {
		case <-s.nodeDone:
		case <-ctx.Done():
		}
		s.stopEngine()
		<-s.nodeDone
	}
	if s.member != nil {
		s.member.stop()
	}
}

// clusterInfo is what a node tells of itself and the others.
func (s *Server) clusterInfo() *client.Cluster {
	st := s.node.Status()
	info := &client.Cluster{
		Name: st.Cluster, ID: st.ClusterID.String(), Node: st.Node, Role: st.Role, Durability: s.opts.Durability,
		Holder: st.Holder, Term: st.Term, TrustMS: millisOf(st.Trust), Lag: st.LagLSN, LagMS: millisOf(st.Lag),
		Warnings: append(slices.Clone(s.warnings), s.zoneWarnings()...),
		Void: map[string]uint64{
			"alien": st.Voids.Alien, "foreign": st.Voids.Foreign, "deposed": st.Voids.Deposed,
			"repeated": st.Voids.Repeated, "unchained": st.Voids.Unchained,
		},
	}
	for _, p := range st.Nodes {
		info.Nodes = append(info.Nodes, client.ClusterNode{
			Node: p.Node, Role: p.Role, Epoch: p.Epoch, LSN: p.LSN, AppliedLSN: p.Applied, Lag: p.LagLSN,
			SilentMS: millisOf(p.Silent), ClockOffsetMS: millisOf(p.Offset),
		})
	}
	return info
}

// zoneWarnings says that this node, should it lead, goes by other rules of timezones than the leader.
func (s *Server) zoneWarnings() []string {
	if s.member == nil || s.member.engine.Load() == nil {
		return nil // it has not begun
	}
	z := s.member.Status().Zones
	if z.Differs == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the zone rules of this node (%s %s) differ from those that the leader plans by, in %d of %d zones: if this node leads, their jobs are planned anew; run the same version with the same --tzdata on all nodes",
		z.Source, z.Version, z.Differs, z.Count)}
}

func millisOf(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
