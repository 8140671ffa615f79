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
	// curiousRate and curiousBurst are the answers to one account, in a second and at once. Tools ask once for each line that
	// they show; what is beyond gets no answer.
	curiousRate, curiousBurst = 50, 100
	// curiousWaiting and curiousWaitingBytes bound the questions on a subject that wait to be read. NATS drops further ones.
	curiousWaiting, curiousWaitingBytes = 16 << 10, 4 << 20
	// curiousMax bounds the accounts that are told apart. Further ones share a rate.
	curiousMax = 4096
)

// curious are the rates at which accounts ask about the service. The zero value has seen none. Safe for concurrent use.
type curious struct {
	mu sync.Mutex
	by map[string]*rate.Limiter // by account; an account that has asked remains
}

// mayAsk reports whether an account gets an answer now, and counts the question.
func (c *curious) mayAsk(account string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.by[account]
	if one == nil {
		if len(c.by) >= curiousMax {
			account = ""
		}
		if one = c.by[account]; one == nil {
			one = rate.NewLimiter(curiousRate, curiousBurst)
			if c.by == nil {
				c.by = make(map[string]*rate.Limiter)
			}
			c.by[account] = one
		}
	}
	return one.AllowN(now, 1)
}

// strangers stands for the accounts of questions whose header does not say who sends them, as if it were one: clients of
// tenants can write headers like that. It is no name of an account.
const strangers = "?"

// curiousOf returns the account of a question: "" is Carillon's own, from which questions come without a header.
func curiousOf(r *inbox.Request) string {
	if r.HeaderBytes == 0 {
		return ""
	}
	account, _, err := r.Sender()
	if err != nil {
		return strangers
	}
	return account
}
