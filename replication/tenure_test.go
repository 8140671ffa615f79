package replication

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// randomTenure returns a tenure in the middle of a leadership, at ten seconds of its clock.
func randomTenure(r *rand.Rand) tenure {
	const now = 10 * time.Second
	before := func(most time.Duration) time.Duration { return now - time.Duration(r.Int64N(int64(most))) }
	t := tenure{lease: 15 * time.Second, margin: 2 * time.Second, grace: 500 * time.Millisecond, promised: make(map[string]time.Duration)}
	t.tried = before(1500 * time.Millisecond)
	t.renewed = t.tried - time.Duration(r.Int64N(2))*time.Second
	for i := range r.IntN(12) {
		name := fmt.Sprintf("n%02d", i)
		if r.IntN(8) > 0 {
			t.promised[name] = before(3*time.Second) + 600*time.Millisecond
		}
		if r.IntN(3) > 0 {
			t.heirs = append(t.heirs, name)
		}
	}
	if r.IntN(5) == 0 {
		r.Shuffle(len(t.heirs), func(i, j int) { t.heirs[i], t.heirs[j] = t.heirs[j], t.heirs[i] })
	}
	return t
}

// A process sleeps until nextDue: no renewal is due before it, and one is due just after.
func TestARenewalIsDueWhenNextDueSays(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		one, now := randomTenure(r), 10*time.Second
		next := one.nextDue(now)
		for at := now; at < min(next, now+2*time.Second); at += time.Millisecond {
			if one.due(at) {
				t.Fatalf("seed %d: due at %s, and nextDue says %s: %+v", seed, at, next, one)
			}
		}
		if at := max(next, now) + 1; !one.due(at) {
			t.Fatalf("seed %d: not due at %s, which is after %s: %+v", seed, at, next, one)
		}
	}
}

// keepsHeirs is a cheap form of a comparison with successors.
func TestKeepsHeirs(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 2))
		one, now := randomTenure(r), 10*time.Second
		got := one.keepsHeirs(now)
		if want := slices.Equal(one.successors(now), one.heirs) || len(one.heirs) == 0 && len(one.successors(now)) == 0; got != want {
			t.Fatalf("seed %d: %v, want %v: %+v", seed, got, want, one)
		}
	}
}
