package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Bounds of the refusals of one tenant. A program that works is seldom refused; one that floods asks again as soon as it
// is refused, so what it is told at once sets the rate of its flood.
const (
	// At most so many are sent a second, after a first burst. That of a request with a large body counts as several, one for
	// each refusalBytes, because a flood costs by its bytes as well: 8 MiB a second.
	refusalsRate, refusalsBurst = 500, 500
	refusalBytes                = 16 << 10
	// So many wait to be sent, and while half of them wait, further requests of the tenant are refused unread. What does
	// not fit is dropped without a reply, as NATS itself drops what a receiver is too slow for.
	refusalsWaiting = 4096
	// pacesMax bounds the tenants that are told apart.
	pacesMax = 1024
)

// pacer sends the refusals of each tenant at a bounded rate. Use newPacer. Safe for concurrent use.
type pacer struct {
	mu      sync.Mutex
	by      map[string]*pace
	dropped uint64 // refusals that were never sent
}

// weightOf returns how many refusals that of a request with a body of the given length counts as. No body of a message may
// count as more than the burst, or it would never be sent.
func weightOf(bytes int) int { return min(1+bytes/refusalBytes, refusalsBurst) }

// pace is the rate of one tenant's refusals, and how many of them wait, as weightOf counts them.
type pace struct {
	limiter *rate.Limiter
	waiting int
}

func newPacer() *pacer { return &pacer{by: make(map[string]*pace)} }

// send calls fn when the next refusal of a party may be sent, that of a request of so many bytes, at once if that is now;
// never if too many wait, and then it returns false.
func (p *pacer) send(party string, bytes int, fn func()) bool {
	now, weight := time.Now(), weightOf(bytes)
	p.mu.Lock()
	one := p.paceLocked(party, now)
	if one.waiting >= refusalsWaiting {
		p.dropped++
		p.mu.Unlock()
		return false
	}
	wait := one.limiter.ReserveN(now, weight).DelayFrom(now)
	if wait > 0 {
		one.waiting += weight
	}
	p.mu.Unlock()
	if wait == 0 {
		fn()
		return true
	}
	time.AfterFunc(wait, func() {
		fn()
		p.mu.Lock()
		one.waiting -= weight
		p.mu.Unlock()
	})
	return true
}

// isBehind reports whether so many refusals of a party wait that its further requests are refused unread.
func (p *pacer) isBehind(party string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.by[party]
	return one != nil && one.waiting >= refusalsWaiting/2
}

// drops reports whether a request of a party is dropped, because its refusal could not be sent. It counts the request then.
func (p *pacer) drops(party string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.by[party]
	if one == nil || one.waiting < refusalsWaiting {
		return false
	}
	p.dropped++
	return true
}

// lost returns how many refusals were never sent.
func (p *pacer) lost() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

// paceLocked returns the pace of a party. If there are too many of them, those that have been quiet are forgotten, and
// then all further parties share one.
func (p *pacer) paceLocked(party string, now time.Time) *pace {
	one := p.by[party]
	if one != nil {
		return one
	}
	if len(p.by) >= pacesMax {
		for name, other := range p.by {
			if other.waiting == 0 && other.limiter.TokensAt(now) >= refusalsBurst {
				delete(p.by, name)
			}
		}
		if len(p.by) >= pacesMax {
			party = ""
			if one = p.by[party]; one != nil {
				return one
			}
		}
	}
	one = &pace{limiter: rate.NewLimiter(refusalsRate, refusalsBurst)}
	p.by[party] = one
	return one
}
