package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api/apitest"
)

// TestDiscoveryPace: each account has a rate of its own, and accounts without end share one.
func TestDiscoveryPace(t *testing.T) {
	var p discoveryPace
	now := time.Unix(1000, 0)
	answered := func(account string, times int) (n int) {
		for range times {
			if p.mayAsk(account, now) {
				n++
			}
		}
		return n
	}
	if n := answered("loud", 10_000); n != discoveryBurst {
		t.Errorf("%d of 10,000 questions at once are answered, want %d", n, discoveryBurst)
	}
	if n := answered("quiet", 1); n != 1 {
		t.Error("another account gets no answer beside the flood")
	}
	now = now.Add(time.Second)
	if n := answered("loud", 10_000); n != discoveryRate {
		t.Errorf("%d questions are answered in the next second, want %d", n, discoveryRate)
	}
	for i := range 2 * discoveryAccounts {
		p.mayAsk(fmt.Sprint(i), now)
	}
	if len(p.by) > discoveryAccounts+1 {
		t.Errorf("%d accounts are told apart, want %d at most", len(p.by), discoveryAccounts)
	}
}

// TestUnreadIsCounted: what NATS drops of the requests of a tenant is counted as requests without an answer, once.
func TestUnreadIsCounted(t *testing.T) {
	_, url := startService(t, apitest.NewDesk(t), Options{}, 0)
	nc := apitest.Connect(t, url)
	release := make(chan struct{})
	sub, err := nc.Subscribe("unread", func(*nats.Msg) { <-release })
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.SetPendingLimits(10, -1); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := nc.Publish("unread", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	told := 0
	u := unreadCount{service: &Service{opts: Options{Unanswered: func(account string) {
		if told++; account != "loud" {
			t.Errorf("%q is told of, want loud", account)
		}
	}}}, tenant: "loud"}
	u.of.Store(sub)
	for range 3 * unreadEvery {
		u.look()
	}
	close(release)
	if dropped, err := sub.Dropped(); err != nil || told != dropped || told < 80 {
		t.Errorf("%d are told, and %d were dropped (%v)", told, dropped, err)
	}
}
