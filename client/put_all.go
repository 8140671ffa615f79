package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// The bounds of one request of a bulk registration. The server's are the same.
const (
	bulkJobsMax    = 10_000
	bulkReplyBytes = 512 // of the reply, for each job
)

// The pauses before a request that the server was too busy for is repeated: each is twice the one before.
const (
	bulkTries    = 8
	bulkPauseMin = 100 * time.Millisecond
)

const bulkHead, bulkTail = `{"jobs":[`, `]}`

// PutTotals counts what became of the jobs of a [Client.PutAll].
type PutTotals struct{ Accepted, Rejected int }

// PutAll registers any number of jobs, in as many requests as they need, several at a time. It calls
// each, which may be nil, with the result of every job, in the order of the jobs, from the caller's
// goroutine. It holds no more than the jobs of the requests under way.
//
// Requests that the server is too busy for are repeated for a while, whatever the options say; those that
// get no answer as any other request, so a job may be put twice. An error ends it: the jobs that each was called for have their result, the
// others may be registered or not, and may be put again.
func (c *Client) PutAll(ctx context.Context, jobs iter.Seq[Job], each func(PutResult)) (PutTotals, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &putter{client: c, each: each, most: c.requestBytesMax()}
	for j := range jobs {
		if err := p.add(ctx, j); err != nil {
			return p.totals, err
		}
	}
	p.send(ctx)
	for len(p.flying) > 0 {
		if err := p.settle(); err != nil {
			return p.totals, err
		}
	}
	return p.totals, nil
}

// putter cuts a stream of jobs into requests.
type putter struct {
	client *Client
	each   func(PutResult)
	most   int          // bytes of a request
	text   bytes.Buffer // the job that is being added
	open   *bulk        // being filled; nil if there is none
	room   int          // bytes that requests turned out to have
	flying []*bulk      // sent, oldest first
	totals PutTotals
}

// bulk is one request of many jobs.
type bulk struct {
	body  []byte
	jobs  int
	done  chan struct{} // closed when reply and err are there
	reply PutManyReply
	err   error
}

func newBulk(room int) *bulk {
	body := make([]byte, 0, max(room, len(bulkHead)))
	return &bulk{body: append(body, bulkHead...), done: make(chan struct{})}
}

// add takes a job into the open request. When too many are flying it waits for the oldest.
func (p *putter) add(ctx context.Context, j Job) error {
	p.text.Reset()
	if err := encodeTo(&p.text, j); err != nil {
		return fmt.Errorf("client: job %q: %w", clip(j.Name), err)
	}
	text := p.text.Bytes()
	if b := p.open; b != nil && (b.jobs >= p.jobsMax() || len(b.body)+1+len(text)+len(bulkTail) > p.most) {
		p.send(ctx)
	}
	if len(bulkHead)+len(text)+len(bulkTail) > p.most {
		p.send(ctx)
		p.refuse(j.Name, len(text))
	} else {
		p.fill(text)
	}
	for len(p.flying) >= p.client.opts.BulkInFlight {
		if err := p.settle(); err != nil {
			return err
		}
	}
	return nil
}

func (p *putter) jobsMax() int { return max(1, min(bulkJobsMax, p.most/bulkReplyBytes)) }

func (p *putter) fill(text []byte) {
	if p.open == nil {
		p.open = newBulk(p.room)
	} else {
		p.open.body = append(p.open.body, ',')
	}
	p.open.body = append(p.open.body, text...)
	p.open.jobs++
}

// refuse gives a job that fits no request its place among the results.
func (p *putter) refuse(name string, size int) {
	b := newBulk(0)
	b.jobs = 1
	b.reply = PutManyReply{Rejected: 1, Results: []PutResult{{Name: name, Error: &Error{
		Code: CodeTooLarge, Status: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("the job has %d bytes, and NATS carries at most %d here (max_payload)", size, p.most),
	}}}}
	close(b.done)
	p.flying = append(p.flying, b)
}

// send lets the open request fly.
func (p *putter) send(ctx context.Context) {
	b := p.open
	if b == nil {
		return
	}
	p.open = nil
	b.body = append(b.body, bulkTail...)
	p.room = len(b.body)
	p.flying = append(p.flying, b)
	go func() {
		defer close(b.done)
		b.err = p.client.putBulk(ctx, b)
	}()
}

// settle waits for the oldest request and tells its results.
func (p *putter) settle() error {
	b := p.flying[0]
	p.flying = p.flying[1:]
	<-b.done
	if b.err == nil && len(b.reply.Results) != b.jobs {
		b.err = fmt.Errorf("client: the reply has %d results for %d jobs", len(b.reply.Results), b.jobs)
	}
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

// putBulk sends a request, and again while the server is too busy for it: nothing of it was done then.
func (c *Client) putBulk(ctx context.Context, b *bulk) error {
	pause := bulkPauseMin
	for try := 1; ; try++ {
		err := c.exchange(ctx, c.bulkCall(b.body), &b.reply)
		if !errors.Is(err, CodeRateLimited) || try == bulkTries || !sleep(ctx, pause) {
			return err
		}
		pause *= 2
	}
}
