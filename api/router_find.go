package api

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/job"
)

// byName returns the way of a verb about one job, whose name is a member of the request.
func byName(member string) routeFunc {
	return func(r *router, ctx context.Context, v *Verb, q *Request) (Reply, error) {
		name, _ := findText(q.Body, member)
		return r.ask(ctx, r.shardOf(q.Tenant, name), v, q)
	}
}

// ofJobOr returns the way of a verb about one job, if the request has the member job, or about all of them.
func ofJobOr(all routeFunc) routeFunc {
	ofJob := byName("job")
	return func(r *router, ctx context.Context, v *Verb, q *Request) (Reply, error) {
		if name, _ := findText(q.Body, "job"); name != "" {
			return ofJob(r, ctx, v, q)
		}
		return all(r, ctx, v, q)
	}
}

// byRun goes to the shard of a run, whose id begins with that of its job. An id that cannot be read goes to the first
// shard, which refuses it.
func byRun(r *router, ctx context.Context, v *Verb, q *Request) (Reply, error) {
	shard := uint32(0)
	text, _ := findText(q.Body, "run_id")
	if id, err := job.ParseRunID(text); err == nil {
		shard = job.ShardOf(id.Job.Slot(), r.count)
	}
	return r.ask(ctx, shard, v, q)
}

// toFirst goes to the first shard, which has what is the same in all of them.
func toFirst(r *router, ctx context.Context, v *Verb, q *Request) (Reply, error) {
	return r.ask(ctx, 0, v, q)
}

// here answers a request that concerns this node alone.
func here(r *router, ctx context.Context, v *Verb, q *Request) (Reply, error) {
	return r.front.serve(ctx, v, q)
}

// shardOf returns the shard of a job. Without a name it is the first one, which refuses the request as any shard would:
// what is wrong with a request does not depend on the jobs that there are.
func (r *router) shardOf(tenant, name string) uint32 {
	if name == "" {
		return 0
	}
	return job.ShardOf(job.SlotOf(tenant, name), r.count)
}

// errFound ends the reading of an object when what was looked for is known.
var errFound = errors.New("found")

// findText returns the text of a member of an object, and whether there is one. It reads no further than it must: the
// leader reads the whole request strictly, and refuses one that has the member twice or is broken behind it.
func findText(body []byte, member string) (text string, ok bool) {
	_ = read(body, func(r *reader) error {
		return r.members(func(name jsontext.Value) (err error) {
			if !isNamed(name, member) {
				return r.skip()
			}
			if r.dec.PeekKind() == jsontext.KindString {
				text, err = r.text()
				ok = err == nil
			}
			return errFound
		})
	})
	return text, ok
}

// members reads an object: for each member it calls each with the name, which reads the value.
func (r *reader) members(each func(name jsontext.Value) error) error {
	if err := r.open(jsontext.KindBeginObject, "an object"); err != nil {
		return err
	}
	for r.dec.PeekKind() != jsontext.KindEndObject {
		name, err := r.dec.ReadValue()
		if err != nil {
			return r.broken(err)
		}
		if err := each(name); err != nil {
			return err
		}
	}
	return r.token()
}

// skip skips a value.
func (r *reader) skip() error {
	if err := r.dec.SkipValue(); err != nil {
		return r.broken(err)
	}
	return nil
}

// isNamed reports whether the quoted name of a member is that name, whatever escapes it has.
func isNamed(name jsontext.Value, member string) bool {
	return string(name[1:len(name)-1]) == member || bytes.IndexByte(name, '\\') >= 0 && unquote(name) == member
}

// values reads a list: for each value it calls each with the text.
func (r *reader) values(each func(raw jsontext.Value) error) error {
	if err := r.open(jsontext.KindBeginArray, "a list"); err != nil {
		return err
	}
	for r.dec.PeekKind() != jsontext.KindEndArray {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return r.broken(err)
		}
		if err := each(raw); err != nil {
			return err
		}
	}
	return r.token()
}

// decode decodes a reply, or a part of one, as the types of package client have it. Members of a later release are
// ignored.
func decode(text []byte, into any) error { return json.Unmarshal(text, into, encoding) }
