package api

import (
	"context"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// retryMany retries dead runs of all jobs, shard after shard.
func (r *router) retryMany(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	req, err := requestOf(q, retryManyMembers)
	if err == nil {
		err = checkRunQuery(req, true)
	}
	if err != nil {
		return Reply{}, err
	}
	n, more, err := r.changeMany(ctx, v, q, req, func(text []byte) (int, bool, error) {
		var reply client.RetryManyReply
		err := decode(text, &reply)
		return reply.Retried, reply.More, err
	})
	if err != nil {
		return Reply{}, err
	}
	text, err := json.Marshal(&client.RetryManyReply{Retried: n, More: more}, encoding)
	return Reply{Text: text}, err
}

// dismissMany dismisses dead runs of all jobs, shard after shard.
func (r *router) dismissMany(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	req, err := requestOf(q, dismissManyMembers)
	if err == nil {
		err = checkRunQuery(&req.RunQuery, true)
	}
	if err == nil {
		err = checkReason(req.reason)
	}
	if err != nil {
		return Reply{}, err
	}
	n, more, err := r.changeMany(ctx, v, q, &req.RunQuery, func(text []byte) (int, bool, error) {
		var reply client.DismissManyReply
		err := decode(text, &reply)
		return reply.Dismissed, reply.More, err
	})
	if err != nil {
		return Reply{}, err
	}
	text, err := json.Marshal(&client.DismissManyReply{Dismissed: n, More: more}, encoding)
	return Reply{Text: text}, err
}

// changeMany changes runs in one shard after the other until the limit is reached, and returns how many it has changed.
// more says that some may be left. A shard that fails does not keep the others from being changed: only if nothing was
// changed in any is its error that of the request. So a caller that repeats the request until no more are left changes
// all that can be changed, and then learns what cannot.
func (r *router) changeMany(ctx context.Context, v *Verb, q *Request, asked *scheduler.RunQuery, read func(reply []byte) (int, bool, error)) (n int, more bool, err error) {
	setDefault(&asked.Limit, PageDefault)
	head := openObject(q.Body, "limit")
	if len(head) > 1 {
		head = append(head, ',')
	}
	for _, shard := range r.all(0) {
		left := asked.Limit - n
		if left == 0 {
			return n, true, nil
		}
		body := append(strconv.AppendInt(append(slices.Clone(head), `"limit":`...), int64(left), 10), '}')
		reply, failed := r.askPart(ctx, shard, v, q, body)
		if failed == nil {
			var changed int
			var isMore bool
			changed, isMore, failed = read(reply.Text)
			n, more = n+changed, more || isMore
		}
		if failed != nil && err == nil {
			err = failed
		}
	}
	if n > 0 {
		return n, more || err != nil, nil
	}
	return 0, more, err
}
