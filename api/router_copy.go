package api

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/inbox"
)

// A router answers reads that may lag on <prefix>.standby.v1.<tenant>.<verb>, as a standby does in a cluster with one
// shard, and over HTTP those with [StandbyHeader].

// standbyRoot is the prefix of the subjects for reads that may lag.
func (o *Options) standbyRoot() string { return o.Prefix + ".standby.v1." }

// addReads subscribes a router to the reads that may lag.
func (s *Service) addReads() error {
	if s.executor.router == nil {
		return nil
	}
	root := s.opts.standbyRoot()
	for i := range verbs {
		v := &verbs[i]
		read := func(r *inbox.Request) (Request, error) {
			q, err := s.readOn(r, root)
			if err == nil && !v.reads {
				err = apierr.Errorf(apierr.NotLeader, "", "what comes on %s> is answered by nodes that may stand by and change nothing; send the request to %s%s.%s", root, s.opts.root(), q.Tenant, v.name)
			}
			return q, err
		}
		if err := s.subscribe(root, "*."+v.name, s.accept(v, root, read)); err != nil {
			return err
		}
	}
	return nil
}

// lagOn returns the lag of a request that came on subjects with the given prefix; nil if its answer may not lag.
func (s *Service) lagOn(root string) *Lag {
	if s.executor.router == nil || root != s.opts.standbyRoot() {
		return nil
	}
	return new(Lag)
}

// copyWait bounds how long a standby elsewhere is waited for, before the leader is asked: it may hang. A read takes
// milliseconds.
const copyWait = time.Second

// askCopy has a node with a copy of a shard answer a read that may lag: this one, or else a standby, or else the leader. A
// copy that is being received, or whose node changes its role, is passed over.
func (r *router) askCopy(ctx context.Context, shard uint32, v *Verb, q *Request) (reply Reply, err error) {
	if own := r.shards.Copy(shard); own != nil && own.Enter() {
		defer own.Leave()
		if reply, err = own.serve(ctx, v, q); !isAway(err) {
			if own.opts.Standby {
				q.Lag.note(shard, own.lag())
			}
			return reply, err
		}
	}
	if reply, err = r.askStandby(ctx, shard, v, q); !isAway(err) {
		return reply, err
	}
	if reply, err = r.askLeader(ctx, shard, v, q); isAway(err) {
		err = apierr.Errorf(apierr.Unavailable, "", "no node with a copy of shard %d answers at the moment; ask again later", shard)
	}
	return reply, err
}

// askStandby has a standby of a shard elsewhere answer a read: one that is heard, by its process, since one that hangs may be in the
// queue group of standbys for minutes.
func (r *router) askStandby(ctx context.Context, shard uint32, v *Verb, q *Request) (Reply, error) {
	heard := slices.DeleteFunc(r.shards.FollowedBy(shard), func(process string) bool { return process == r.front.opts.Process })
	if len(heard) == 0 {
		return Reply{}, noLeader(shard)
	}
	ctx, cancel := context.WithTimeout(ctx, copyWait)
	defer cancel()
	leave, err := r.enterLine(ctx, shard, q)
	if err != nil {
		return Reply{}, err
	}
	defer leave()
	root := r.front.opts.followerRoot(shard, heard[rand.IntN(len(heard))])
	if reply, err := r.front.forwardTo(ctx, root, shard, v, q, nil); !errors.Is(err, errNoLeader) {
		return reply, err
	}
	// It is of a release that has no such subjects, or follows no more.
	return r.front.forwardTo(ctx, r.front.opts.copyRoot(shard), shard, v, q, nil)
}
