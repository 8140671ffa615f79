package api

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// addForwarded subscribes to the requests that other nodes pass on: a leader to those for it, and the standby of one of
// several shards to reads that may lag. They are shared in a queue group like those of callers, so that two nodes that
// both take themselves for the leader do not carry one out twice.
func (s *Service) addForwarded() error {
	var roots []string // of all such nodes, and then of this process
	switch o := &s.opts; {
	case o.Leads == nil, o.Standby && o.Shards <= 1: // no other node exists, or it answers by itself
	case o.Standby && o.Process != "":
		roots = []string{o.copyRoot(o.Shard), o.followerRoot(o.Shard, o.Process)}
	case o.Standby:
		roots = []string{o.copyRoot(o.Shard)}
	case o.Process != "":
		roots = []string{o.forwardRoot(o.Shard), o.leaderRoot(o.Shard, o.Process)}
	default:
		roots = []string{o.forwardRoot(o.Shard)}
	}
	var errs []error
	for i, root := range roots {
		accept := func(r *inbox.Request) { s.acceptForwarded(r, root) }
		if i == 0 {
			errs = append(errs, s.subscribe(root, ">", accept))
		} else {
			errs = append(errs, s.subscribeForProcess(root, accept))
		}
	}
	return errors.Join(errs...)
}

// forwardedRequest is a request that another node passed on, on its way through the executor.
type forwardedRequest struct {
	service *Service
	verb    *Verb
	tenant  string
	head    *inbox.Request
	last    *inbox.Request // to be answered: the head, or the last part of the body
	isLate  bool           // it was refused because it came too late
}

// acceptForwarded accepts a request of another node. A subject without a known verb is that of another release, whose
// node gets no answer.
func (s *Service) acceptForwarded(r *inbox.Request, root string) {
	tenant, name, _ := strings.Cut(r.Subject[len(root):], ".")
	v := VerbNamed(name)
	if v == nil {
		s.opts.Logger.Warn("a node passed on a request of an unknown verb", slog.String("subject", apierr.Clip(r.Subject)))
		return
	}
	q := &forwardedRequest{service: s, verb: v, tenant: tenant, head: r, last: r}
	s.carry(arrival{verb: v, via: overCluster, begun: time.Now(), header: r.Header.Get, read: q.read}, tenant, len(r.Data), q.answer)
}

// read reads the request, with the parts of its body. The caller is the one that the other node names.
func (q *forwardedRequest) read() (Request, error) {
	about, err := readForwarded(q.head)
	if err == nil {
		err = q.inTime(q.head)
	}
	if err == nil {
		err = errors.Join(RefuseDelivery(q.head.Header), job.ValidateTenant(q.tenant))
	}
	body, within := q.head.Data, time.Duration(about.TimeoutMS)*time.Millisecond
	if err == nil && about.BodyBytes > 0 {
		if body, err = q.receiveParts(about.BodyBytes, within); err == nil {
			err = q.inTime(q.last)
		}
	}
	if err == nil && !q.service.opts.isSealed(q.head, body) {
		err = apierr.Errorf(apierr.Forbidden, "", "the request does not prove that it comes from a node of this cluster; want the same cluster password on all nodes")
	}
	who := about.whoIn(q.tenant, q.service.opts.Access)
	if who.Principal == nil && who.Tenant == "" && about.Principal != "" {
		who.Refusal = fmt.Sprintf("node %s, which has to answer, has no principal %q in its file of rights, and the node that was asked has one; give all nodes the same file (--auth)", q.service.executor.lag().node, about.Principal)
	}
	return Request{
		Tenant: q.tenant, Asker: job.Actor{By: about.By, From: about.From}, Host: about.Host, Body: body,
		Who:    who,
		within: within, isPart: about.Part, isSpent: about.Part, pageBytes: about.PageBytes,
	}, err
}

// answer sends the reply to the other node, with what the headers over HTTP say about the thing that it shows.
func (q *forwardedRequest) answer(reply Reply, refusal *client.Error) {
	h := nats.Header{}
	if q.isLate {
		h[lateHeader] = []string{"yes"}
	}
	version, collection, created := reply.Thing()
	if version > 0 {
		h[versionHeader] = []string{strconv.FormatUint(uint64(version), 10)}
	}
	if created != "" {
		h[createdHeader] = []string{collection + "/" + created}
	}
	q.service.answer(q.verb, q.last, h, nil, reply.Text, refusal)
}
