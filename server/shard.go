package server

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/shard"
	"github.com/carillon-io/carillon/usage"
)

// openShards opens the engines with their data. A node of a cluster finds the cluster, or founds it, with its first shard,
// and begins to follow; then with the others.
func (s *Server) openShards(ctx context.Context) error {
	if s.divided() && s.access != nil {
		s.usage = &usageExchange{Table: usage.NewTable(s.shards)}
	}
	for _, m := range s.members() {
		s.equip(m)
	}
	s.serving.Store(true)
	open := func(ctx context.Context, m *member) error { return m.shard.Open(ctx) }
	if err := s.atOnce(ctx, s.members()[:1], open); err != nil {
		return err
	}
	if err := s.claimShards(ctx); err != nil {
		return err
	}
	return s.atOnce(ctx, s.members()[1:], open)
}

// equip gives a member, whose data is open, its shard and what sends its backups.
func (s *Server) equip(m *member) {
	m.backups = s.backupsOf(m)
	m.shard = shard.New(s.optionsOf(m))
}

// optionsOf returns the options of a shard.
func (s *Server) optionsOf(m *member) shard.Options {
	o := &s.opts
	return shard.Options{
		Number: m.number, Data: m.data, CheckpointEvery: o.CheckpointEvery,
		Engine: s.engineOptions(m), OpenAnnouncer: m.openAnnouncer(s),
		Conn: s.bus.API(), API: s.apiOptions(m), Cluster: s.clusterOf(m),
		// Clients of the NATS server of the node that led before may be about to connect to another one.
		BeforeLead: s.dispatcher.Unsettle, OnLead: m.backups.lead, OnFatal: func(err error) { s.fail(s.inShard(m.number, err)) }, Logger: s.loggerOf(m),
	}
}

// engineOptions returns the options of the engine of a shard.
func (s *Server) engineOptions(m *member) scheduler.Options {
	o := &s.opts
	return scheduler.Options{
		Sender: s.dispatcher, Ticks: s.ticks, Logger: s.loggerOf(m), Loading: o.loading(), Secret: s.readSecret, Quotas: s.quotas(m.number), CalendarsMax: s.calendarsMax(),
		Usual: s.usualElsewhere(m.number),
		Settings: scheduler.Settings{
			Lead: o.Lead, CompletedRetention: o.CompletedRetention, HistoryDays: o.HistoryDays,
			CatchupRate: o.CatchupRate, Shards: s.shards, Events: o.Events, EventsMax: o.EventsMaxWaiting, Zones: o.zones,
		},
	}
}

// usualElsewhere returns the function by which the engine of a shard asks for the usual rate of the others; nil if there are none.
func (s *Server) usualElsewhere(shard uint32) func() scheduler.Usual {
	if !s.divided() {
		return nil
	}
	return func() scheduler.Usual {
		rate, shards := s.cluster.Replication.Host.UsualElsewhere(shard)
		return scheduler.Usual{Rate: rate, Shards: shards}
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

// apiOptions returns the options of the service that answers requests over NATS about a shard. Of several shards, callers
// ask the router, so the service has none of the accounts of tenants.
func (s *Server) apiOptions(m *member) api.Options {
	o := s.doorOptions()
	o.Node, o.Logger, o.Shard, o.Shards = s.aboutNode(s.aboutShard(m), nil), s.loggerOf(m), m.number, uint32(s.shards)
	o.Process = s.process
	if s.opts.clustered() {
		o.Leaders = ledShards{s}
	}
	if s.divided() {
		o.Accounts = nil
	}
	return o
}

// doorOptions returns the options of any service of this process, for all shards.
func (s *Server) doorOptions() api.Options {
	o := &s.opts
	return api.Options{
		Node: s.aboutNode(s.aboutCluster(), s.aboutShards()), Prefix: o.Prefix, Access: s.access, Caller: s.callers(), Accounts: s.accountConns(), Rules: s.rules(), Logger: o.Logger, Tracer: s.requestTracer(), Zones: o.zones,
		ForwardKey: s.nodeKey(), Unanswered: s.bus.NoteUnanswered,
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

// openAnnouncer returns the function that opens the publisher of events and dead letters of a shard. The origin is the same
// on every node of a cluster, so that what two leaders publish about one change has the same id. Each of several shards counts
// its changes by itself, so each has an origin of its own.
func (m *member) openAnnouncer(s *Server) func(ctx context.Context, origin string) (scheduler.Announcer, error) {
	return func(ctx context.Context, origin string) (scheduler.Announcer, error) {
		if s.divided() {
			origin = fmt.Sprintf("%s-%d", origin, m.number)
		}
		announcer, err := s.newAnnouncer(ctx, origin)
		if err != nil {
			return nil, err
		}
		m.announcer = announcer
		return announcer, nil
	}
}

// newAnnouncer opens a publisher of events and dead letters.
func (s *Server) newAnnouncer(ctx context.Context, origin string) (*dispatch.Announcer, error) {
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
	return announcer, err
}

// startShards lets the shards run, and returns when jobs fire and requests are answered.
func (s *Server) startShards(ctx context.Context) error {
	s.watchServers()
	var roles sync.Map // by the number of the shard
	err := s.atOnce(ctx, s.members(), func(ctx context.Context, m *member) error {
		role, err := m.shard.Start(ctx)
		roles.Store(m.number, role)
		return err
	})
	if err != nil {
		return err
	}
	s.ready = s.nowReady(&roles)
	if !s.opts.clustered() { // in a cluster another node may answer
		err = s.backups.FlushTimeout(flushTimeMax)
	}
	return errors.Join(err, s.bus.Flush(ctx))
}

// nowReady describes the server whose shards have begun with these roles.
func (s *Server) nowReady(roles *sync.Map) Ready {
	st := s.status()
	r := Ready{NATS: s.bus.URL(), HTTP: s.httpURL(), Listen: s.listening(), Epoch: st.Epoch, Jobs: st.Jobs}
	if s.divided() {
		r.Shards = s.shards
	}
	for _, m := range s.members() {
		role, _ := roles.Load(m.number)
		if r.Role == "" {
			r.Role, _ = role.(string)
		}
		if s.divided() && role == replication.RoleLeader {
			r.Role, r.Leads = replication.RoleLeader, append(r.Leads, m.number)
		}
	}
	return r
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
