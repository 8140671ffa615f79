package access

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// TestRateOfABucket uses up a rate, leaves a debt, and changes the rate: what is used up stays so.
func TestRateOfABucket(t *testing.T) {
	var r rates
	now := time.Unix(1_700_000_000, 0)
	for step, c := range []struct {
		after     time.Duration
		rate      float64
		n         int
		ok        bool
		retryFrom time.Duration // shortest time of the refusal; it is a second longer at most
	}{
		{0, 10, 1, true, 0}, {0, 10, 9, true, 0}, // the requests of one second
		{0, 10, 1, false, 100 * time.Millisecond},
		{100 * time.Millisecond, 10, 1, true, 0},
		{0, 10, 200, true, 0}, // a debt of 20 s
		{0, 10, 1, false, 20 * time.Second},
		{0, 20, 1, false, 10 * time.Second}, // the file was read again
		{9 * time.Second, 20, 1, false, time.Second},
		{1100 * time.Millisecond, 20, 1, true, 0},
		{time.Hour, 20, 1201, false, 0}, // more than a minute of the rate, never
		{0, 20, 1200, true, 0},
		{time.Hour, 0.001, 1, true, 0},
		{0, 0.001, 1, false, 999 * time.Second},
	} {
		now = now.Add(c.after)
		err := r.spend("a", c.rate, c.n, now)
		if (err == nil) != c.ok {
			t.Fatalf("step %d: %v", step, err)
		}
		if err != nil {
			e := apierr.From(err)
			if e.Code != apierr.RateLimited || e.RetryAfter < c.retryFrom || e.RetryAfter > c.retryFrom+time.Second {
				t.Errorf("step %d: %s, again in %s: %v", step, e.Code, e.RetryAfter, err)
			}
		}
	}
	if _, limited := r.use("a", 0.001, now); limited != 6 {
		t.Errorf("%d requests were limited, want 6", limited)
	}
	table, err := Parse([]byte("tenants: {b: {quota: {rate: 1/s}}}\nprincipals: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	_ = r.spend("b", 1, 1, now)
	if r.keep(table, now); len(r.buckets) != 1 || r.buckets["b"] == nil {
		t.Errorf("%d buckets are left, want that of b", len(r.buckets))
	}
}

// TestRaisedRate: a bucket fills by the new rate from the moment at which the file was read, also if no request comes meanwhile.
func TestRaisedRate(t *testing.T) {
	var r rates
	now := time.Unix(1_700_000_000, 0)
	_ = r.spend("a", 1, 1, now)
	table, err := Parse([]byte("tenants: {a: {quota: {rate: 100/s}}}\nprincipals: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	r.keep(table, now)
	now = now.Add(time.Second)
	for i := range 100 {
		if err := r.spend("a", 100, 1, now); err != nil {
			t.Fatalf("request %d a second after the rate was raised: %v", i, err)
		}
	}
	if r.spend("a", 100, 1, now) == nil {
		t.Error("more than the requests of one second came at once")
	}
}
