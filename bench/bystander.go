package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// bystanderPatience is how long the other tenant waits for a reply. It is that of a client's try.
const bystanderPatience = 5 * time.Second

// phase is what the other tenant did in a time.
type phase struct {
	from, to  time.Time
	puts, got samples
	floor     samples // delays of a thread of the bench that only sleeps
}

// late returns the lateness of the jobs that were due in the phase.
func (p *phase) late(receipts []receipt) (late samples) {
	for _, one := range receipts {
		if strings.HasPrefix(one.job, "beside-") && !one.scheduled.Before(p.from) && one.scheduled.Before(p.to) {
			late = append(late, one.arrived.Sub(one.scheduled))
		}
	}
	return late
}

// bystander is the other tenant: it registers a job and reads it again, one request after the other, and repeats nothing.
type bystander struct {
	nc *nats.Conn

	refused int    // requests that were not carried out
	why     string // the last refusal
	silent  int    // requests without a reply
	losses  atomic.Int64
}

// newBystander connects the other tenant.
func newBystander(address string) (*bystander, error) {
	b := &bystander{}
	nc, err := nats.Connect(address, nats.Name("bench"), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				b.losses.Add(1)
			}
		}))
	b.nc = nc
	return b, err
}

// act goes on until over is closed.
func (b *bystander) act(ctx context.Context, name string, over <-chan struct{}) (*phase, error) {
	p, floor := &phase{from: time.Now()}, startFloor()
	defer func() { p.floor = floor() }()
	for i := 0; ctx.Err() == nil && !isClosed(over); i++ {
		j := farJob(fmt.Sprintf("%s-%d", name, i), i)
		body := fmt.Sprintf(`{"name":%q,"schedule":%q,"target":{"kind":"nats","subject":%q},"payload":%s}`, j.Name, j.Schedule, j.Target.Subject, j.Payload)
		isThere, err := b.ask(&p.puts, "jobs.put", body)
		if isThere {
			_, err = b.ask(&p.got, "jobs.get", fmt.Sprintf(`{"name":%q}`, j.Name))
		}
		if err != nil {
			return nil, err
		}
	}
	p.to = time.Now()
	return p, nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ask makes a request, and notes how long it took, or that it was refused or without a reply. The time of one without a
// reply counts as well: leaving it out would flatter the figures.
func (b *bystander) ask(took *samples, verb, body string) (isDone bool, err error) {
	began := time.Now()
	m, err := b.nc.Request("carillon.v1."+otherTenant+"."+verb, []byte(body), bystanderPatience)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		b.refused++
		b.why = verb + ": no responders"
		return false, nil
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrConnectionReconnecting):
		b.silent++
		*took = append(*took, time.Since(began))
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s of the other tenant: %w", verb, err)
	}
	if refusal := m.Header.Get("Nats-Service-Error"); refusal != "" {
		b.refused++
		b.why = verb + ": " + refusal
		return false, nil
	}
	*took = append(*took, time.Since(began))
	return true, nil
}

// tell adds what the other tenant did not get.
func (b *bystander) tell(r *result) {
	losses := int(b.losses.Load())
	r.count("refused", "refusals of the other tenant", b.refused)
	r.count("silent", "requests of the other tenant without a reply", b.silent)
	r.count("losses", "connections that the other tenant lost", losses)
	if b.refused > 0 {
		r.breaks("the other tenant was refused %d times, the last time with %s", b.refused, b.why)
	}
	if b.silent > 0 || losses > 0 {
		r.breaks("the other tenant had no reply to %d requests, and lost its connection %d times", b.silent, losses)
	}
}
