package api

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

var (
	loud  = party{tenant: "loud", from: "nats"}
	quick = party{tenant: "quick", from: "http", host: "192.0.2.1"}
)

func isRefused(err error) bool {
	e, ok := errors.AsType[*apierr.Error](err)
	return ok && e.Code == apierr.RateLimited
}

// mustTake takes room that there must be.
func mustTake(t *testing.T, r *room, p party, bytes int) *hold {
	t.Helper()
	h, err := r.take(t.Context(), p, bytes)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestRoomBounds takes all that a party may have, and all that there is.
func TestRoomBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(roomLimits{bytes: 100, partyBytes: 60, builds: 2, partyBuilds: 1, waiting: 2, partyWaiting: 1, wait: time.Second})
		first := mustTake(t, r, loud, 50)
		if _, err := r.take(t.Context(), loud, 1); !isRefused(err) {
			t.Errorf("a second build of one party: %v", err)
		}
		first.settle(50)
		if _, err := r.take(t.Context(), loud, 11); !isRefused(err) {
			t.Errorf("more bytes than a party may have: %v", err)
		}
		second := mustTake(t, r, loud, 10)
		second.settle(10)
		other := mustTake(t, r, quick, 40)
		other.settle(40)
		if _, err := r.take(t.Context(), party{tenant: "third"}, 1); !isRefused(err) {
			t.Errorf("more bytes than there are: %v", err)
		}
		for _, h := range []*hold{first, second, other, other, nil} {
			h.give()
		}
		if r.bytes != 0 || r.builds != 0 || len(r.parties) != 0 || len(r.waiting) != 0 {
			t.Errorf("the room is not empty at the end: %+v", r)
		}
		mustTake(t, r, loud, 1000).give() // more than a party may have: all of that
	})
}

// TestRoomRefusesAtOnce has as many wait as may wait: the next are refused without any time passing, and those
// that wait when their context ends or their time is over.
func TestRoomRefusesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(roomLimits{bytes: 100, partyBytes: 100, builds: 1, partyBuilds: 1, waiting: 2, partyWaiting: 1, wait: time.Second})
		held := mustTake(t, r, loud, 1)
		begun, ends := time.Now(), make(chan time.Duration, 2)
		wait := func(ctx context.Context, p party) {
			if _, err := r.take(ctx, p, 1); !isRefused(err) {
				t.Errorf("a request that waited in vain: %v", err)
			}
			ends <- time.Since(begun)
		}
		go wait(t.Context(), loud)
		synctest.Wait()
		if _, err := r.take(t.Context(), loud, 1); !isRefused(err) || time.Since(begun) != 0 {
			t.Errorf("one more of the party: %v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		go wait(ctx, quick)
		synctest.Wait()
		if _, err := r.take(t.Context(), party{tenant: "third"}, 1); !isRefused(err) || time.Since(begun) != 0 {
			t.Errorf("one more than wait: %v after %v", err, time.Since(begun))
		}
		if first, second := <-ends, <-ends; first != time.Millisecond || second != time.Second {
			t.Errorf("they waited %v and %v", first, second)
		}
		held.give()
		if len(r.parties) != 0 || len(r.waiting) != 0 {
			t.Errorf("the room is not empty at the end: %+v", r)
		}
	})
}

// TestRoomTakesTurns lets one party wait with many requests and another with one, which is next all the same.
func TestRoomTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(roomLimits{bytes: 100, partyBytes: 100, builds: 1, partyBuilds: 1, waiting: 9, partyWaiting: 8, wait: time.Second})
		held := mustTake(t, r, loud, 100)
		order := make(chan party, 9)
		ask := func(p party) {
			h, err := r.take(t.Context(), p, 100)
			if err != nil {
				t.Error(err)
				return
			}
			order <- p
			h.give()
		}
		for range 8 {
			go ask(loud)
		}
		synctest.Wait()
		go ask(quick)
		synctest.Wait()
		held.give()
		if first := <-order; first != quick {
			t.Errorf("%+v was first; want the one that had nothing", first)
		}
		for range 8 {
			if p := <-order; p != loud {
				t.Error(p)
			}
		}
	})
}

// TestRoomLeavesRoom has one tenant take all that it may from many hosts: another tenant finds a quarter.
func TestRoomLeavesRoom(t *testing.T) {
	r := newRoom(roomLimits{bytes: 100, partyBytes: 30, builds: 100, partyBuilds: 100, waiting: 1, partyWaiting: 0, wait: time.Second})
	var holds []*hold
	for host := 0; ; host++ {
		h, err := r.take(t.Context(), party{tenant: "loud", from: "http", host: fmt.Sprint(host)}, 5)
		if err != nil {
			break
		}
		holds = append(holds, h)
	}
	if len(holds) != 15 {
		t.Errorf("one tenant has %d places of 5 bytes in 100, want 15", len(holds))
	}
	holds = append(holds, mustTake(t, r, quick, 25))
	for _, h := range holds {
		h.give()
	}
	if r.bytes != 0 || len(r.tenants) != 0 || len(r.parties) != 0 {
		t.Errorf("the room is not empty at the end: %+v", r)
	}
}

// TestRoomOfARequestThatRests: while no part of a request is at work, another reply is built, and the bytes stay reserved. It goes on before
// the requests of its party that wait for room, and only when it may build again.
func TestRoomOfARequestThatRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(roomLimits{bytes: 100, partyBytes: 100, builds: 1, partyBuilds: 1, waiting: 9, partyWaiting: 8, wait: time.Second})
		first := mustTake(t, r, loud, 40)
		parts := (&stay{hold: first}).split(2)
		parts[0].leave()
		parts[0].leave()
		if r.builds != 1 {
			t.Error("it rests while a part is at work")
		}
		parts[1].leave()
		second := mustTake(t, r, loud, 40)
		if _, err := r.take(t.Context(), loud, 40); !isRefused(err) {
			t.Errorf("more bytes than there are beside those of one that rests: %v", err)
		}
		order := make(chan string, 2)
		go func() {
			h, err := r.take(t.Context(), loud, 20)
			if err != nil {
				t.Error(err)
			}
			order <- "new"
			h.give()
		}()
		synctest.Wait()
		go func() {
			if err := first.wake(t.Context()); err != nil {
				t.Error(err)
			}
			order <- "old"
			first.settle(7)
			first.give()
		}()
		synctest.Wait()
		second.give()
		if a, b := <-order, <-order; a != "old" || b != "new" {
			t.Errorf("%s went on before %s", a, b)
		}
		synctest.Wait()
		if r.bytes != 0 || r.builds != 0 || len(r.parties) != 0 || len(r.waiting) != 0 {
			t.Errorf("the room is not empty at the end: %+v", r)
		}
	})
}

// TestRoomOfARequestThatWakesInVain: a request that may not build again in time is refused, and gives all back.
func TestRoomOfARequestThatWakesInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(roomLimits{bytes: 100, partyBytes: 100, builds: 1, partyBuilds: 1, waiting: 9, partyWaiting: 8, wait: time.Second})
		first := mustTake(t, r, loud, 40)
		mine := &stay{hold: first}
		mine.leave()
		second := mustTake(t, r, quick, 40)
		if err := mine.back(t.Context()); !isRefused(err) {
			t.Errorf("it goes on beside another: %v", err)
		}
		first.give()
		second.give()
		if r.bytes != 0 || r.builds != 0 || len(r.parties) != 0 || len(r.waiting) != 0 {
			t.Errorf("the room is not empty at the end: %+v", r)
		}
	})
}
