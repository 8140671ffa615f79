package api

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/schedule"
)

// piece is what one turn costs in these tests, by the clock of the test.
const piece = 100 * time.Microsecond

// TestProcessorsAreSharedByTime has a tenant with fifty requests of a hundred pieces each, and one that comes later with
// requests of two: at each piece these wait for the present turn of the other and one more, however many it has. Alone,
// the first tenant has all of the time.
func TestProcessorsAreSharedByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcessors(1, 1e9, 1e9)
		var mu sync.Mutex
		spent := map[string]time.Duration{}
		spentBy := func(party string, more time.Duration) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			spent[party] += more
			return spent[party]
		}
		request := func(party string, pieces int) {
			turns := partyTurns{p, party}
			for range pieces {
				if err := turns.Take(t.Context()); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(piece)
				spentBy(party, piece)
				turns.Give()
			}
		}
		for range 50 {
			go request("loud", 100)
		}
		time.Sleep(10 * piece)
		for range 20 {
			before, began := spentBy("loud", 0), time.Now()
			request("quick", 2)
			took, others := time.Since(began), spentBy("loud", 0)-before
			if took > 6*piece || others > 5*piece {
				t.Fatalf("a small request took %s, of which the other tenant had %s", took, others)
			}
		}
		began := time.Now()
		synctest.Wait()
		time.Sleep(5000 * piece)
		synctest.Wait()
		if loud := spentBy("loud", 0); loud != 5000*piece || time.Since(began) > 5000*piece {
			t.Errorf("alone, the loud tenant computed for %s", loud)
		}
		if p.free != 1 || p.waiting.Len() != 0 {
			t.Errorf("%d places are free at the end, %d wait", p.free, p.waiting.Len())
		}
	})
}

// TestProcessorsForget has requests give up while they wait: the place goes to the next one that still wants it.
func TestProcessorsForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcessors(1, 1e9, 1e9)
		first := partyTurns{p, "loud"}
		if err := first.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if err := (partyTurns{p, "gone"}).Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			cancel()
		}
		got := make(chan error, 1)
		go func() { got <- partyTurns{p, "quick"}.Take(t.Context()) }()
		synctest.Wait()
		first.Give()
		if err := <-got; err != nil {
			t.Error(err)
		}
		partyTurns{p, "quick"}.Give()
		if p.free != 1 || p.waiting.Len() != 0 {
			t.Errorf("%d places are free, %d wait", p.free, p.waiting.Len())
		}
	})
}

// TestSearchTakesTurns searches schedules with a place that is taken: a usual search never waits for it, and a costly
// one ends with its request. A place that was given is given back.
func TestSearchTakesTurns(t *testing.T) {
	p := newProcessors(1, 1e9, 1e9)
	if err := (partyTurns{p, "other"}).Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := instant.Of(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC))
	plain, err := schedule.Parse(schedule.Spec{Expr: "0 9 * * 1-5", Zone: "Europe/Berlin", Exclude: "2026-12-24/2026-12-26"})
	if err != nil {
		t.Fatal(err)
	}
	if ticks, _, err := plain.Preview(p.of(t.Context(), "a"), at, at, 10); err != nil || len(ticks) != 10 {
		t.Errorf("a usual preview: %v, %v", ticks, err)
	}
	costly, err := schedule.Parse(schedule.Spec{Expr: "@every 1h", Exclude: "0 * * * *"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, _, err := costly.Preview(p.of(ctx, "a"), at, at, 10); err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("a costly preview without a place: %v", err)
	}
	partyTurns{p, "other"}.Give()
	if _, _, err := costly.Preview(p.of(t.Context(), "a"), at, at, 10); err == nil {
		t.Error("a costly preview was not refused")
	}
	if p.free != 1 || p.waiting.Len() != 0 {
		t.Errorf("%d places are free at the end, %d wait", p.free, p.waiting.Len())
	}
}

// TestAProcessorStaysFree: searches leave one processor to what is cheap and what is due, however high GOMAXPROCS is.
func TestAProcessorStaysFree(t *testing.T) {
	for _, c := range []struct{ processors, maxprocs, want int }{{1, 4, 1}, {2, 4, 1}, {8, 16, 7}, {64, 2, 1}} {
		if got := placesOf(c.processors, c.maxprocs); got != c.want {
			t.Errorf("%d places with %d processors and GOMAXPROCS %d; want %d", got, c.processors, c.maxprocs, c.want)
		}
	}
}

// TestSearchesRest: whatever waits, the pieces of a second are bounded, and what is left over of a quiet time is a burst.
func TestSearchesRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const burst = 50
		p := newProcessors(1, piecesRate, burst)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var pieces atomic.Int64
		for range 100 {
			go func() {
				for turns := (partyTurns{p, "loud"}); turns.Take(ctx) == nil; turns.Give() {
					time.Sleep(piece / 4) // so that a place that never rests makes 40,000
					pieces.Add(1)
				}
			}()
		}
		<-ctx.Done()
		time.Sleep(2 * piecesRest)
		synctest.Wait()
		if got := pieces.Load(); got > burst+piecesRate+1 || got < piecesRate*9/10 {
			t.Errorf("%d pieces in a second; want at most %d, and nearly as many", got, burst+piecesRate)
		}
		if p.free != 1 || p.waiting.Len() != 0 || p.rests {
			t.Errorf("%d places are free at the end, %d wait, rest: %t", p.free, p.waiting.Len(), p.rests)
		}
		time.Sleep(time.Second)
		began := time.Now()
		for range burst / 2 {
			if err := (partyTurns{p, "quick"}).Take(t.Context()); err != nil {
				t.Fatal(err)
			}
			partyTurns{p, "quick"}.Give()
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("half of a burst waited for %s, a second after the flood", took)
		}
	})
}
