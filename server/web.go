package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/dashboard"
	"github.com/carillon-io/carillon/metrics"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/web"
)

// openFront begins to serve HTTP. Until openWeb, each reply says that the server starts.
func (s *Server) openFront() {
	s.web = web.NewFront(s.opts.Logger)
	listener := s.limited()
	s.background.Go(func() {
		if err := s.web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	})
}

// openWeb serves HTTP from the shards, through the service that is current at each request.
func (s *Server) openWeb(context.Context) error {
	node := s.aboutNode(s.aboutCluster(), s.aboutShards())
	s.web.Open(web.New(process{s}, web.Options{
		Node: node, Logger: s.opts.Logger, Executor: s.executor, Ready: s.isReady(), Access: s.access, Certificates: s.certs.http, SessionKey: s.sessionKey.get, Hosts: s.opts.httpHosts(), Pages: s.pages(),
		Metrics: metrics.New(metrics.Options{
			Node: node, Logger: s.opts.Logger, Shards: s.shardMetrics, Divided: s.divided(), ShardsInAll: s.shards, Executor: s.executor,
			Deliveries: s.deliveries, NATS: s.aboutNATS(), Certificates: s.aboutCertificates(), Rights: s.access, Guarded: s.guardedRequests(), Insecure: s.opts.Insecure, Quotas: s.doorQuotas(),
		}),
	}))
	return nil
}

// process shows the engines of a process as one.
type process struct{ *Server }

// Status implements web.Engine.
func (p process) Status() scheduler.Status { return p.status() }

// isReady returns the function that reports whether this process does its part in each of several shards; nil for one, whose status says
// it. It has no part yet in a shard of which it receives a copy.
func (s *Server) isReady() func() bool {
	if !s.divided() {
		return nil
	}
	return func() bool {
		for _, m := range s.members() {
			if s.cluster.Replication.Host.Receives(m.number) {
				continue
			}
			node := api.Node{Cluster: s.aboutShard(m)}
			if !web.IsReady(node.Status(m.shard.Status(), access.Who{})) {
				return false
			}
		}
		return true
	}
}

// aboutNode returns what the node shows of itself, with its cluster or that of one of its shards, and with the rows of its
// shards if there are several.
func (s *Server) aboutNode(cluster func() *client.Cluster, shards func() []client.ShardStatus) api.Node {
	return api.Node{Version: s.opts.Version, Cluster: cluster, Shards: shards, Inboxes: s.inboxes, Surroundings: surroundings{s.around, s.certs}, Further: s.furtherWarnings, Guarded: s.guardedWarnings}
}

// pages makes the dashboard.
func (s *Server) pages() func(*web.Desk) http.Handler {
	return func(desk *web.Desk) http.Handler {
		o := dashboard.Options{
			Status: s.status, Location: s.opts.zones.Location, Logger: s.opts.Logger, OpenStream: s.openStream, Insecurity: s.opts.insecurity(), API: web.OpenAPI,
		}
		if s.access != nil {
			o.Rights = desk
		}
		if s.opts.clustered() {
			o.HandOver = s.askForHandover
		}
		if s.daybook != nil {
			o.Daybook = s.daybook
		}
		s.dashboard = dashboard.New(desk, o)
		return s.dashboard
	}
}

// openStream counts a stream of a page against the quota of a tenant.
func (s *Server) openStream(tenant string) (done func(), err error) {
	if done, err = s.access.OpenStream(tenant); err != nil {
		return nil, api.PublicError(err)
	}
	return done, nil
}

// httpHosts returns the host names that HTTP requests may be for, in addition to addresses. Only this machine can reach a
// listener on loopback, so there the name localhost needs no configuration.
func (o Options) httpHosts() (names []string) {
	if len(o.HTTPHosts) == 0 && bus.OnLoopback(o.HTTPListen) {
		return web.HostsLocal
	}
	for _, name := range o.HTTPHosts {
		names = append(names, strings.ToLower(strings.TrimSuffix(name, ".")))
	}
	return names
}
