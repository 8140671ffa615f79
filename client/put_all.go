package client

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"net/http"
)

// The bounds of one request of a bulk registration; the server has the same.
const (
	bulkJobsMax    = 10_000
	bulkReplyBytes = 512 // largest part of the reply for one job, in bytes
)

// A request is assembled as text, because jobs are encoded one by one to learn how many of them fit.
const bulkHead, bulkTail = `{"jobs":[`, `]}`

// PutTotals counts the jobs of a [Client.PutAll] by result. Rejected has also those of which it is unknown whether they are
// registered.
type PutTotals struct{ Accepted, Rejected int }

// PutAll registers any number of jobs, in as many requests as necessary, several of them concurrently.
// It calls each, which may be nil, with the result of every job, in the order of the jobs, on the
// caller's goroutine. It holds only the jobs of the requests that are under way.
//
// It repeats requests for which the server is too busy for a while, even with Options.NoRetry. It
// repeats requests without an answer as other methods do, so a job may be put twice. Jobs that are refused because
// their shard has no leader it puts again, for Options.Timeout or until ctx ends; then the refusal is their result. After a
// wait in vain it does not wait again before a request is without such refusals, or may have registered jobs without an answer. The
// result of a job that is refused then says that it is unknown whether the job is registered, as [Error] describes. An error ends it:
// jobs for which each was called have their result; the others may or may not be registered, and may be
// put again.
func (c *Client) PutAll(ctx context.Context, jobs iter.Seq[Job], each func(PutResult)) (PutTotals, error) {
	ctx, cancel := context.WithCancel(ctx)
	// A return before the end also ends the requests that are under way, whose results nothing reads.
	defer cancel()
	p := &putter{client: c, each: each, most: c.requestBytesMax(), wait: leaderWait{most: c.opts.Timeout}}
	for j := range jobs {
		if err := p.add(ctx, j); err != nil {
			return p.totals, err
		}
	}
	p.send(ctx)
	for len(p.inFlight) > 0 {
		if err := p.collect(); err != nil {
			return p.totals, err
		}
	}
	return p.totals, nil
}

// putter splits a sequence of jobs into requests, and keeps up to Options.BulkInFlight of them under
// way. Only the goroutine of PutAll uses it.
type putter struct {
	client   *Client
	each     func(PutResult)
	most     int          // largest size of a request, in bytes
	text     bytes.Buffer // JSON of the job that is being added
	open     *bulk        // the request being filled; nil if there is none
	room     int          // size of the last request, in bytes; used to allocate the next
	inFlight []*bulk      // requests sent and not collected, oldest first
	totals   PutTotals
	wait     leaderWait // of all requests; also used by their goroutines
}

// bulk is one request of many jobs.
type bulk struct {
	// body is complete once the request is sent.
	body []byte
	jobs int
	ends []int         // where the text of each job ends in body
	done chan struct{} // closed when reply and err are set
	// reply and err may be read only after done is closed.
	reply PutManyReply
	err   error
}

// newBulk returns an empty request with memory for room bytes.
func newBulk(room int) *bulk {
	body := make([]byte, 0, max(room, len(bulkHead)))
	return &bulk{body: append(body, bulkHead...), done: make(chan struct{})}
}

// add adds a job to the open request. If too many requests are under way, it waits for the oldest.
func (p *putter) add(ctx context.Context, j Job) error {
	p.text.Reset()
	if err := encodeTo(&p.text, j); err != nil {
		return fmt.Errorf("client: job %q: %w", clip(j.Name), err)
	}
	text := p.text.Bytes()
	// The job does not fit into the open request, which is therefore complete.
	if b := p.open; b != nil && (b.jobs >= p.jobsMax() || len(b.body)+1+len(text)+len(bulkTail) > p.most) {
		p.send(ctx)
	}
	if len(bulkHead)+len(text)+len(bulkTail) > p.most {
		p.send(ctx)
		p.refuse(j.Name, len(text))
	} else {
		p.fill(text)
	}
	for len(p.inFlight) >= p.client.opts.BulkInFlight {
		if err := p.collect(); err != nil {
			return err
		}
	}
	return nil
}

// jobsMax returns the largest number of jobs in a request: the reply must fit into a message too.
func (p *putter) jobsMax() int { return max(1, min(bulkJobsMax, p.most/bulkReplyBytes)) }

// fill appends a job's JSON to the open request.
func (p *putter) fill(text []byte) {
	if p.open == nil {
		p.open = newBulk(p.room)
	} else {
		p.open.body = append(p.open.body, ',')
	}
	p.open.body = append(p.open.body, text...)
	p.open.jobs++
	p.open.ends = append(p.open.ends, len(p.open.body))
}

// refuse adds the result of a job that is too large for any request, at its place among the results.
func (p *putter) refuse(name string, size int) {
	b := newBulk(0)
	b.jobs = 1
	b.reply = PutManyReply{Rejected: 1, Results: []PutResult{{Name: name, Error: &Error{
		Code: CodeTooLarge, Status: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("the job has %d bytes, and a request here has at most %d (over NATS its max_payload)", size, p.most),
	}}}}
	close(b.done)
	p.inFlight = append(p.inFlight, b)
}

// send sends the open request on a goroutine of its own.
func (p *putter) send(ctx context.Context) {
	b := p.open
	if b == nil {
		return
	}
	p.open = nil
	b.body = append(b.body, bulkTail...)
	p.room = len(b.body)
	p.inFlight = append(p.inFlight, b)
	go func() {
		defer close(b.done)
		b.err = p.client.putBulk(ctx, b, &p.wait)
	}()
}

// collect waits for the oldest request and passes its results to each.
func (p *putter) collect() error {
	b := p.inFlight[0]
	p.inFlight = p.inFlight[1:]
	<-b.done
	if b.err != nil {
		return b.err
	}
	p.totals.Accepted += b.reply.Accepted
	p.totals.Rejected += b.reply.Rejected
	if p.each != nil {
		for _, r := range b.reply.Results {
			p.each(r)
		}
	}
	return nil
}
