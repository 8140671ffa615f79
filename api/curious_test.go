package api

import (
	"fmt"
	"testing"
	"time"
)

// TestCuriousAccounts: each account has a rate of its own, and accounts without end share one.
func TestCuriousAccounts(t *testing.T) {
	var c curious
	now := time.Unix(1000, 0)
	answered := func(account string, times int) (n int) {
		for range times {
			if c.mayAsk(account, now) {
				n++
			}
		}
		return n
	}
	if n := answered("loud", 10_000); n != curiousBurst {
		t.Errorf("%d of 10,000 questions at once are answered, want %d", n, curiousBurst)
	}
	if n := answered("quiet", 1); n != 1 {
		t.Error("another account gets no answer beside the flood")
	}
	now = now.Add(time.Second)
	if n := answered("loud", 10_000); n != curiousRate {
		t.Errorf("%d questions are answered in the next second, want %d", n, curiousRate)
	}
	for i := range 2 * curiousMax {
		c.mayAsk(fmt.Sprint(i), now)
	}
	if len(c.by) > curiousMax+1 {
		t.Errorf("%d accounts are told apart, want %d at most", len(c.by), curiousMax)
	}
}
