package api

import (
	"context"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
)

// bulkSplit is a bulk registration on its way to the shards. Each job stays the text that the caller wrote, which its
// shard reads. It belongs to the goroutine of its request.
//
// Invariant: jobs and names have the same length, and each place in it is in one list of places.
type bulkSplit struct {
	router *router
	tenant string
	most   int // bound of jobs

	jobs   []jsontext.Value // they point into the request
	names  []string         // "" of a job without a readable name
	places [][]int          // by shard: the places of its jobs in the request
	found  bool             // the request has the member jobs
}

// splitMembers are the members of [bulkMembers].
var splitMembers = object[bulkSplit]{"jobs": func(r *reader, b *bulkSplit) error { return r.splitJobs(b) }}

// split reads a bulk registration as far as it must be known to distribute it. It refuses what [readBulk] refuses as a
// whole, with the same errors.
func (b *bulkSplit) split(body []byte) error {
	return read(body, func(r *reader) error {
		if err := splitMembers.read(r, b); err != nil {
			return err
		}
		if !b.found {
			return errNoJobs()
		}
		return nil
	})
}

// splitJobs reads the list of jobs.
func (r *reader) splitJobs(b *bulkSplit) error {
	b.found = true
	if err := r.open(jsontext.KindBeginArray, "a list of jobs"); err != nil {
		return err
	}
	for r.dec.PeekKind() != jsontext.KindEndArray {
		if len(b.jobs) == b.most {
			return errTooManyJobs(b.most)
		}
		raw, err := r.dec.ReadValue()
		if err != nil {
			return r.broken(err)
		}
		name, _ := findText(raw, "name")
		shard := b.router.shardOf(b.tenant, name)
		b.places[shard] = append(b.places[shard], len(b.jobs))
		b.jobs, b.names = append(b.jobs, raw), append(b.names, name)
	}
	return r.token()
}

// body returns the request for a shard.
func (b *bulkSplit) body(shard uint32) []byte {
	const head, tail = `{"jobs":[`, `]}`
	size := len(head) + len(tail)
	for _, i := range b.places[shard] {
		size += len(b.jobs[i]) + 1
	}
	body := append(make([]byte, 0, size), head...)
	for n, i := range b.places[shard] {
		if n > 0 {
			body = append(body, ',')
		}
		body = append(body, b.jobs[i]...)
	}
	return append(body, tail...)
}

// putMany distributes a bulk registration among the shards, and returns the results in the order of the request. The
// jobs of a shard that is away, or that refuses its part, have that as their error: each job is registered by itself, so
// the others stay. All parts together are hardly larger than the request.
func (r *router) putMany(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	b := bulkSplit{
		router: r, tenant: q.Tenant, most: min(BulkJobsMax, r.front.messageBytesMax()/bulkReplyBytes),
		places: make([][]int, r.count),
	}
	if err := b.split(q.Body); err != nil {
		return Reply{}, err
	}
	var shards []uint32
	for shard, places := range b.places {
		if len(places) > 0 {
			shards = append(shards, uint32(shard))
		}
	}
	replies, errs := make([]Reply, r.count), make([]error, r.count)
	err := inParallel(ctx, q, shards, func(shard uint32, part *Request) {
		replies[shard], errs[shard] = r.askPart(ctx, shard, v, part, b.body(shard))
	})
	if err != nil {
		return Reply{}, err
	}
	if err := refusedByAll(shards, errs); err != nil {
		return Reply{}, err
	}
	m := bulkMerge{split: &b, results: make([]jsontext.Value, len(b.jobs))}
	for _, shard := range shards {
		if err := m.add(r.front, shard, replies[shard].Text, errs[shard]); err != nil {
			return Reply{}, err
		}
	}
	text, err := m.text(r.front)
	return Reply{Text: text}, err
}

// refusedByAll returns the refusal of a request whose parts were all refused, as one for the rate of its tenant. A shard
// that is away refuses its jobs only.
func refusedByAll(shards []uint32, errs []error) error {
	for _, shard := range shards {
		if errs[shard] == nil || isAway(errs[shard]) {
			return nil
		}
	}
	if len(shards) == 0 {
		return nil
	}
	return errs[shards[0]]
}

// bulkMerge assembles the reply to a bulk registration.
type bulkMerge struct {
	split    *bulkSplit
	results  []jsontext.Value // in the order of the request
	accepted int
}

// add adds the results of a shard, or its refusal for each of its jobs.
func (m *bulkMerge) add(x *Executor, shard uint32, reply []byte, refused error) error {
	places := m.split.places[shard]
	if refused != nil {
		for _, i := range places {
			text, err := appendRefused([]byte{}, m.split.names[i], x.replyError(refused), messageBytesMax)
			if err != nil {
				return err
			}
			m.results[i] = text
		}
		return nil
	}
	n := 0
	err := read(reply, func(r *reader) error {
		return r.members(func(name jsontext.Value) error {
			switch {
			case isNamed(name, "results"):
				return r.values(func(raw jsontext.Value) error {
					if n < len(places) {
						m.results[places[n]] = raw
					}
					n++
					return nil
				})
			case isNamed(name, "accepted"):
				raw, err := r.dec.ReadValue()
				count, _ := strconv.Atoi(string(raw))
				m.accepted += count
				return err
			}
			return r.skip()
		})
	})
	if err == nil && n != len(places) {
		err = fmt.Errorf("%d results for %d jobs", n, len(places))
	}
	if err != nil {
		return fmt.Errorf("the reply of shard %d: %w", shard, err)
	}
	return nil
}

// text writes the reply. If it does not fit into a message, the texts of refusals are shortened, as one shard does.
func (m *bulkMerge) text(x *Executor) (jsontext.Value, error) {
	b := m.append(nil)
	if len(b) > x.replyBytesMax() {
		if err := m.clip(); err != nil {
			return nil, err
		}
		b = m.append(b[:0])
	}
	if len(b) > x.replyBytesMax() {
		return nil, x.tooLarge(len(b))
	}
	return b, nil
}

func (m *bulkMerge) append(b []byte) []byte {
	b = append(b, `{"results":[`...)
	for i, raw := range m.results {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, raw...)
	}
	b = strconv.AppendInt(append(b, `],"accepted":`...), int64(m.accepted), 10)
	b = strconv.AppendInt(append(b, `,"rejected":`...), int64(len(m.results)-m.accepted), 10)
	return append(b, '}')
}

// clip shortens the texts of all refusals.
func (m *bulkMerge) clip() error {
	for i, raw := range m.results {
		var result client.PutResult
		if err := decode(raw, &result); err != nil {
			return err
		}
		if result.Error == nil {
			continue
		}
		text, err := appendRefused(nil, result.Name, result.Error, messageBytesClipped)
		if err != nil {
			return err
		}
		m.results[i] = text
	}
	return nil
}
