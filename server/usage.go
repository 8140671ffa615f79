package server

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/seal"
	"github.com/carillon-io/carillon/usage"
)

// Quotas are for all shards together. Each process says once a second what the tenants with a quota use in the shards that it
// leads, and hears the others; the engines count it as used elsewhere. So all shards exceed a quota by no more than what they
// accept in about a second.

// usageEvery is the time between two messages. A shorter one lets shards exceed quotas by less, and costs more messages.
const usageEvery = time.Second

// usageExchange is what a process knows of the use of tenants in all shards, and says of it.
type usageExchange struct {
	*usage.Table
	cluster string    // identifier of the cluster, which each message has
	warned  time.Time // when a message that is ignored was logged last; for the goroutine of the subscription
}

// usageWarnEvery is the time between two warnings of messages that are ignored: they may come at any rate.
const usageWarnEvery = time.Minute

// usageSubject returns the subject on which the processes of a cluster say what tenants use.
func (o *Options) usageSubject() string { return o.Prefix + ".cluster.usage" }

// shareUsage begins to exchange with the other processes what tenants use, if there are several shards and quotas. It runs
// before the shards lead, so that a shard that begins to lead knows of the others.
func (s *Server) shareUsage(context.Context) error {
	if s.usage == nil {
		return nil
	}
	s.usage.cluster = s.first().shard.Node().Status().ClusterID.String()
	desk := inbox.NewDesk(s.bus.API(), s.inboxes, s.opts.Logger)
	sub, err := desk.Subscribe(s.opts.usageSubject(), s.hearUsage)
	if err != nil {
		return fmt.Errorf("subscribe to what tenants use: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopUsage = stop
	s.background.Go(func() {
		defer func() { _ = sub.Unsubscribe() }() // a connection that is closed has no subscription either
		tick := time.NewTicker(usageEvery)
		defer tick.Stop()
		for seq := uint64(1); ; {
			seq = s.sayUsage(seq)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return nil
}

// sayUsage notes what tenants use in the shards that this process leads, and publishes it. A message that is lost does no harm:
// the next one follows. Of shards of which no leader was heard it notes and publishes what the replica has, as processes without a
// replica know nothing of them. It returns the number of the next report.
func (s *Server) sayUsage(seq uint64) uint64 {
	var reports []usage.Report
	for _, m := range s.members() {
		uses, st := usesOf(m), m.shard.Status()
		if st.Role != replication.RoleLeader {
			if s.usage.Guess(m.number, uses) {
				reports = append(reports, usage.Report{Shard: m.number, Uses: uses})
			}
			continue
		}
		r := usage.Report{Shard: m.number, Epoch: st.Epoch, Seq: seq, Uses: uses}
		s.usage.Hear(&r, time.Now(), s.hasQuota)
		reports = append(reports, r)
	}
	messages, next := usage.Encode(s.usage.cluster, s.opts.Node, reports, seq)
	for _, data := range messages {
		m := nats.NewMsg(s.opts.usageSubject())
		m.Data = data
		if key := s.nodeKey(); key != nil {
			m.Header[seal.Header] = []string{seal.Of(key, seal.Usage, m.Subject, nil, data)}
		}
		_ = s.bus.API().PublishMsg(m)
	}
	return next
}

// hearUsage takes what another process says. Its own messages are no news. One without the seal of the nodes may not change
// what tenants may do.
func (s *Server) hearUsage(m *inbox.Request) {
	if key := s.nodeKey(); key != nil {
		given := m.Header[seal.Header]
		if len(given) != 1 || !seal.Is(given[0], key, seal.Usage, m.Subject, nil, m.Data) {
			s.warnUsage("a message about what tenants use has not the seal of the nodes, and is ignored; want the same cluster password on all nodes")
			return
		}
	}
	node, reports, err := usage.Decode(s.usage.cluster, m.Data)
	if err != nil {
		s.warnUsage("a message about what tenants use is ignored", slog.Any("error", err))
		return
	}
	if node == s.opts.Node {
		return
	}
	for i := range reports {
		s.usage.Hear(&reports[i], time.Now(), s.hasQuota)
	}
}

// warnUsage logs a warning, but not often.
func (s *Server) warnUsage(text string, args ...any) {
	if now := time.Now(); now.Sub(s.usage.warned) >= usageWarnEvery {
		s.usage.warned = now
		s.opts.Logger.Warn(text, args...)
	}
}

// hasQuota reports whether a tenant has a quota of those that engines hold.
func (s *Server) hasQuota(tenant string) bool {
	q := s.access.Tenant(tenant).Quota
	return q.Jobs > 0 || q.Bytes > 0 || q.LiveRuns > 0
}

// usesOf returns what the tenants with a quota use in the shard of a member.
func usesOf(m *member) []usage.Use {
	list := m.shard.TenantQuotas()
	uses := make([]usage.Use, len(list))
	for i, t := range list {
		uses[i] = usage.Use{Tenant: t.Tenant, Quota: t.Use}
	}
	return uses
}

// elsewhere returns what tenants use in the other shards; nil if there are none.
func (s *Server) elsewhere(shard uint32) *usage.Sum {
	if s.usage == nil {
		return nil
	}
	return s.usage.Elsewhere(shard)
}

// withElsewhere returns quotas with what tenants use in the other shards.
func withElsewhere(q *scheduler.Quotas, sum *usage.Sum) *scheduler.Quotas {
	if sum == nil {
		return q
	}
	return q.With(sum.Uses)
}
