package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/carillon-io/carillon/inbox"
)

// The bounds of questions about the service ($SRV). An answer is up to a hundred times as large as its question, so without
// a bound a tenant that floods would have the processors and the connection of all.
const (
	// discoveryRate and discoveryBurst are the answers to one account, in a second and at once. Tools ask once for each line that
	// they show; what is beyond gets no answer.
	discoveryRate, discoveryBurst = 50, 100
	// discoveryWaiting and discoveryWaitingBytes bound the questions on a subject that wait to be read. NATS drops further ones.
	discoveryWaiting, discoveryWaitingBytes = 16 << 10, 4 << 20
	// discoveryAccounts bounds the accounts that are told apart. Further ones share a rate.
	discoveryAccounts = 4096
)

// discoveryPace has the rates at which accounts ask about the service. The zero value has seen none. Safe for concurrent use.
type discoveryPace struct {
	mu sync.Mutex
	by map[string]*rate.Limiter // by account; an account that has asked remains
}

// mayAsk reports whether an account gets an answer now, and counts the question.
func (p *discoveryPace) mayAsk(account string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.by[account]
	if one == nil {
		if len(p.by) >= discoveryAccounts {
			account = strangers
		}
		if one = p.by[account]; one == nil {
			one = rate.NewLimiter(discoveryRate, discoveryBurst)
			if p.by == nil {
				p.by = make(map[string]*rate.Limiter)
			}
			p.by[account] = one
		}
	}
	return one.AllowN(now, 1)
}

// strangers stands for the accounts of questions whose header does not say who sends them, as if it were one: clients of
// tenants can write headers like that. It is no name of an account.
const strangers = "?"

// accountAsking returns the account of a question: "" is Carillon's own, from which questions come without a header.
func accountAsking(r *inbox.Request) string {
	if r.HeaderBytes == 0 {
		return ""
	}
	account, _, err := r.Sender()
	if err != nil {
		return strangers
	}
	return account
}
