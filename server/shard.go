package server

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"errors"
	"log/slog"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/shard"
)

// openShard opens the engine with its data. A node of a cluster finds the cluster, or founds it, and begins to follow.
func (s *Server) openShard(ctx context.Context) error {
	o := &s.opts
	options := shard.Options{
		Number: shardNumber, Data: s.data, CheckpointEvery: o.CheckpointEvery,
		Engine: s.engineOptions(), OpenAnnouncer: s.openAnnouncer,
		Conn: s.bus.API(), API: s.apiOptions(),
		OnLead: s.backups.lead, OnFatal: s.fail, Logger: o.Logger,
	}
	if o.clustered() {
		var err error
		if options.Cluster, err = s.clusterOptions(ctx); err != nil {
			return err
		}
	}
	s.shard = shard.New(options)
	s.serving.Store(s.shard)
	return s.shard.Open(ctx)
}

// shardNumber is the number of the one shard of a server.
const shardNumber = 0

// engineOptions returns the options of the engine.
func (s *Server) engineOptions() scheduler.Options {
	o := &s.opts
	return scheduler.Options{
		Sender: s.dispatcher, Logger: o.Logger, Loading: o.loading(), Secret: s.readSecret, Quotas: s.quotas(), CalendarsMax: s.calendarsMax(),
		Settings: scheduler.Settings{
			Lead: o.Lead, CompletedRetention: o.CompletedRetention, HistoryDays: o.HistoryDays,
			CatchupRate: o.CatchupRate, Events: o.Events, EventsMax: o.EventsMaxWaiting, Zones: o.zones,
		},
	}
}

// calendarsMax returns the function by which the engine asks how many calendars a tenant may have; nil without a file of
// rights.
func (s *Server) calendarsMax() func(tenant string) int {
	if s.access == nil {
		return nil
	}
	return func(tenant string) int { return int(s.access.Tenant(tenant).Quota.Calendars) }
}

// apiOptions returns the options of the service that answers requests over NATS.
func (s *Server) apiOptions() api.Options {
	o := &s.opts
	return api.Options{
		Node: s.aboutNode(), Prefix: o.Prefix, Access: s.access, Caller: s.callers(), Accounts: s.accountConns(), Rules: s.rules(), Logger: o.Logger, Tracer: s.requestTracer(), Zones: o.zones,
		ForwardKey: o.forwardKey(), Unanswered: s.bus.NoteUnanswered,
	}
}

// forwardKeyRounds makes a guess of the cluster's password as expensive as a tenth of a second of a processor: the
// seals under the key are visible to all who may listen to the nodes, and could otherwise be used to try passwords.
const forwardKeyRounds = 200_000

// forwardKey returns the key of the requests that nodes pass on to each other; none without a password of the cluster.
func (o *Options) forwardKey() []byte {
	if o.ClusterPassword == "" {
		return nil
	}
	key, err := pbkdf2.Key(sha256.New, o.ClusterPassword, []byte("carillon forward "+o.ClusterName), forwardKeyRounds, sha256.Size)
	if err != nil {
		panic(err) // only a key that is too long for the hash
	}
	return key
}

// openAnnouncer opens the publisher of events and dead letters. The origin is the same on every node of a
// cluster, so that what two leaders publish about one change has the same id.
func (s *Server) openAnnouncer(ctx context.Context, origin string) (scheduler.Announcer, error) {
	o := &s.opts
	announcer, err := dispatch.NewAnnouncer(s.bus.Notices(), dispatch.AnnouncerOptions{
		Prefix: o.Prefix, Origin: origin,
		Events: dispatch.EventOptions{Enabled: o.Events, Stream: o.EventsStream, MaxAge: o.EventsMaxAge, MaxBytes: o.EventsMaxBytes},
	})
	if err == nil && o.Events {
		err = announcer.Prepare(ctx)
		if dispatch.IsSilence(err) && ctx.Err() == nil {
			// The servers of a cluster may elect now. Events wait on disk until the stream is there.
			o.Logger.Warn("the stream of events is not known yet; trying again when there are events", slog.Any("error", err))
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	s.announcer = announcer
	return announcer, nil
}

// clusterOptions returns what a shard in a cluster needs besides.
func (s *Server) clusterOptions(ctx context.Context) (*shard.Cluster, error) {
	o := &s.opts
	facts, err := s.around.Facts(ctx)
	if err != nil {
		return nil, err
	}
	replicas := facts.Replicas(o.Replicas)
	if err := facts.Validate(); err != nil {
		return nil, err
	}
	conn, err := s.bus.Connect("carillon log")
	if err != nil {
		return nil, err
	}
	r := replication.Options{
		Conn: conn, Prefix: o.Prefix, Cluster: o.ClusterName, Node: o.Node, Process: s.process,
		Local: o.Durability == DurabilityLocal, Replicas: replicas, StreamBytesMax: o.StreamBytesMax,
		Recreate: o.RecreateStream, LeadAlone: o.LeadAlone, Await: o.awaitMembers, Lease: o.lease, Discard: o.DiscardData,
		Synced: s.around.Synced, Release: o.Version, Inboxes: s.inboxes, Logger: o.Logger,
	}
	r.Server, r.Seated = s.bus.Seats()
	return &shard.Cluster{Replication: r, OnFound: s.onFound, OnJoin: s.onJoin}, nil
}

// onFound keeps what NATS had put aside, and ends the answers to empty nodes: the cluster is there.
func (s *Server) onFound(context.Context) error {
	if err := datadir.KeepNATSAside(s.opts.Dir, s.opts.Logger); err != nil {
		return err
	}
	s.bus.Founded()
	return nil
}

// onJoin checks NATS now that the log exists, and lets other servers learn which node this is.
func (s *Server) onJoin(ctx context.Context, node *replication.Node) {
	s.around.CheckNATS(ctx)
	s.around.Joined(node)
}

// startShard lets the shard run, and returns when jobs fire and requests are answered.
func (s *Server) startShard(ctx context.Context) error {
	s.watchServers()
	role, err := s.shard.Start(ctx)
	if err != nil {
		return err
	}
	st := s.shard.Status()
	s.ready = Ready{NATS: s.bus.URL(), HTTP: s.httpURL(), Listen: s.listening(), Role: role, Epoch: st.Epoch, Jobs: st.Jobs}
	if !s.opts.clustered() { // in a cluster another node may answer
		err = s.backups.conn.FlushTimeout(flushTimeMax)
	}
	return errors.Join(err, s.bus.Flush(ctx))
}

// watchServers looks for a better server of NATS for each connection of a node in a cluster.
func (s *Server) watchServers() {
	if !s.opts.clustered() {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopServers = stop
	conns := s.bus.Conns()
	s.background.Go(func() { s.bus.WatchServers(ctx, conns) })
}
