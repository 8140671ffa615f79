package history

import "time"

// randomSpec returns a definition with the fields that all kinds of job share. The missed-run policy of
// a one-shot never skips, so that its run must arrive in any case.
func (c *Client) randomSpec(kind JobKind) Spec {
	s := Spec{Kind: kind, Target: c.randomTarget(), Missed: "fire_once", Overlap: "skip"}
	if c.rng.IntN(2) == 0 {
		s.Overlap = "allow"
	}
	if c.rng.IntN(4) == 0 {
		s.Missed = "backfill"
	}
	if kind != oneShot && c.rng.IntN(4) == 0 {
		s.Missed = "skip"
	}
	return s
}

// randomTarget returns a kind of target, HTTP the least often.
func (c *Client) randomTarget() string {
	switch n := c.rng.IntN(100); {
	case n < 40:
		return "nats"
	case n < 65:
		return "request"
	case n < 85:
		return "jetstream"
	default:
		return "http"
	}
}

// randomDue returns when a one-shot is due: mostly within seconds, sometimes so soon that the server cannot commit the
// run ahead. The range reaches from below the time by which the server decides ahead to well above it, for a server
// alone.
func (c *Client) randomDue() Instant {
	span := 4 * time.Second
	if c.rng.IntN(4) == 0 {
		span = 300 * time.Millisecond
	}
	due := Now().Add(time.Duration(c.rng.Int64N(int64(span))))
	return due/1000*1000 + 1000 // whole milliseconds
}

// randomOneShot returns a one-shot with a random due time.
func (c *Client) randomOneShot() Spec {
	s := c.randomSpec(oneShot)
	s.Due = c.randomDue()
	return s
}
