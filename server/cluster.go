package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/wal"
)

// openNode finds the cluster or founds it, and begins to follow.
func (s *Server) openNode(ctx context.Context) error {
	o := &s.opts
	facts, err := s.around.Facts(ctx)
	if err != nil {
		return err
	}
	replicas := facts.Replicas(o.Replicas)
	if err := facts.Validate(); err != nil {
		return err
	}
	conn, err := s.bus.Connect("carillon log")
	if err != nil {
		return err
	}
	opts := replication.Options{
		Conn: conn, Prefix: o.Prefix, Cluster: o.ClusterName, Node: o.Node, Process: s.process,
		Local: o.Durability == DurabilityLocal, Replicas: replicas, StreamBytesMax: o.StreamBytesMax,
		Recreate: o.RecreateStream, LeadAlone: o.LeadAlone, Await: o.awaitMembers, Synced: s.around.Synced, Release: o.Version, Next: wal.Next, Inboxes: s.inboxes, Boot: bootClock, Logger: o.Logger,
	}
	if err := s.describeData(&opts); err != nil {
		return err
	}
	opts.Server, opts.Seated = s.bus.Seats()
	if s.node, err = s.findCluster(ctx, opts); err != nil {
		return err
	}
	if err := s.dir.MeetCluster(s.node.ID().String(), s.node.Discards()); err != nil {
		return err
	}
	if err := datadir.KeepNATSAside(s.opts.Dir, o.Logger); err != nil {
		return err
	}
	s.bus.Founded()
	if err := s.openAnnouncer(ctx, s.dir.Identity().ClusterID); err != nil {
		return err
	}
	s.around.CheckNATS(ctx)
	known, err := datadir.ReadMembers(s.data.Dir(), s.dir.Identity().ClusterID)
	if err != nil {
		return err
	}
	s.member = &member{server: s, data: s.data, known: known}
	s.node.Attach(s.member)
	s.around.Joined(s.node)
	return s.member.start()
}

// How a start tries to find the cluster.
const (
	findAgain    = 500 * time.Millisecond // between two attempts
	findSayEvery = 10 * time.Second       // how often the log says why it does not find it
)

// findCluster tries until JetStream can do what is needed: a stream with three replicas cannot be made before
// three servers are up.
func (s *Server) findCluster(ctx context.Context, opts replication.Options) (*replication.Node, error) {
	var said time.Time
	for {
		node, err := replication.NewNode(ctx, opts)
		if err == nil || replication.IsFinal(err) {
			return node, err
		}
		if time.Since(said) > findSayEvery {
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

// runNode runs the node in the background, and returns when it leads, or follows without a gap.
func (s *Server) runNode(ctx context.Context) error {
	nodeCtx, stop := context.WithCancel(context.Background())
	s.stopEngine = stop
	s.nodeDone = make(chan struct{})
	ready := make(chan string, 1)
	conns := s.bus.Conns()
	s.background.Go(func() { s.bus.WatchServers(nodeCtx, conns) })
	s.background.Go(func() {
		defer close(s.nodeDone)
		s.fail(s.node.Run(nodeCtx, func(role string) { ready <- role }))
	})
	select {
	case role := <-ready:
		st := s.member.Status()
		s.ready = Ready{NATS: s.bus.URL(), HTTP: "http://" + bus.Reachable(s.listener.Addr()), Role: role, Epoch: st.Epoch, Jobs: st.Jobs}
		return s.bus.Flush(ctx)
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

// openClusterWeb serves HTTP from the beginning, so that operators see a node that joins.
func (s *Server) openClusterWeb(context.Context) error {
	s.serveWeb(s.member, func() *api.Service { return s.member.service.Load() })
	return nil
}

// closeNode hands over if the node leads, and ends it.
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

// clusterInfo returns what a node reports about itself and the others.
func (s *Server) clusterInfo() *client.Cluster {
	st := s.node.Status()
	info := &client.Cluster{
		Name: st.Cluster, ID: st.ClusterID.String(), Node: st.Node, Role: st.Role, Durability: s.opts.Durability,
		Holder: st.Holder, Term: st.Term, TrustMS: millisOf(st.Trust), Lag: st.LagLSN, LagMS: millisOf(st.Lag), Waits: waitsFor(st),
		Warnings: slices.Concat(s.around.Weaknesses(), commitWarnings(st), s.zoneWarnings(), versionWarnings(st.Nodes), waitWarnings(st)),
		Void: map[string]uint64{
			"alien": st.Voids.Alien, "foreign": st.Voids.Foreign, "deposed": st.Voids.Deposed,
			"repeated": st.Voids.Repeated, "unchained": st.Voids.Unchained,
		},
	}
	for _, p := range st.Nodes {
		info.Nodes = append(info.Nodes, client.ClusterNode{
			Node: p.Node, Role: p.Role, Epoch: p.Epoch, LSN: p.LSN, AppliedLSN: p.Applied, Lag: p.LagLSN,
			SilentMS: millisOf(p.Silent), ClockOffsetMS: millisOf(p.Offset), Version: p.Release, RowsVersion: int(p.Rows),
		})
	}
	return info
}

// waitWarnings says what a node waits for, and why it must not lead.
func waitWarnings(st replication.Status) (warnings []string) {
	if text := waitsFor(st); text != "" {
		warnings = append(warnings, text)
	}
	if st.Barred != nil {
		warnings = append(warnings, "this node must not lead: "+st.Barred.Error())
	}
	return warnings
}

// waitsFor names the members for which a node waits before it leads; "" if it does not wait.
func waitsFor(st replication.Status) string {
	if len(st.Awaits) == 0 {
		return ""
	}
	return fmt.Sprintf("no node leads, and other members may have more of the log: this node waits for %s, for at most %s; start them, or this node with --lead-alone",
		strings.Join(st.Awaits, ", "), st.AwaitsLeft.Round(time.Second))
}

// commitWarnings warns that the commits of this leader do not reach the stream.
func commitWarnings(st replication.Status) []string {
	if st.Role != replication.RoleLeader || st.Lag == 0 {
		return nil
	}
	return []string{fmt.Sprintf("commits have waited for the stream of the log for %s: NATS elects a leader for it, lacks a majority of its servers, or refuses them; "+
		"what was committed ahead is launched, and nothing after that; the log of this node has the error", st.Lag.Truncate(time.Second))}
}

// versionWarnings warns that a node can read older rows only: changes that need newer rows are refused
// meanwhile.
func versionWarnings(nodes []replication.Peer) (warnings []string) {
	for _, p := range nodes {
		if p.Rows < job.RowsVersion {
			warnings = append(warnings, fmt.Sprintf("node %s (%s) reads rows up to version %d, and this one up to %d: jobs that need newer rows are refused until it is upgraded; "+
				"if it was taken out of the cluster for good, it counts for ten minutes", p.Node, cmp.Or(p.Release, "of an older release"), p.Rows, job.RowsVersion))
		}
	}
	return warnings
}

// zoneWarnings warns that this node, if it led, would use other timezone rules than the leader.
func (s *Server) zoneWarnings() []string {
	if s.member == nil || s.member.engine.Load() == nil {
		return nil // the engine is not open yet
	}
	z := s.member.Status().Zones
	if z.Differs == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the zone rules of this node (%s %s) differ from those that the leader plans by, in %d of %d zones: if this node leads, their jobs are planned anew; run the same version with the same --tzdata on all nodes",
		z.Source, z.Version, z.Differs, z.Count)}
}

func millisOf(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
