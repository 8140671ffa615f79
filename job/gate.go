package job

import (
	"sync/atomic"
	"time"
)

// Gate decides whether attempts that wait with a sender, because NATS had no receiver for them, may leave. All deliveries of an engine
// share one. An engine that leads no more ends its gate, and the next leader launches what waited. The zero value is open, and so is
// nil. Safe for concurrent use.
type Gate struct {
	// Trust returns for how long attempts may leave; with 0 or less they must wait. It is set before the first use; nil: for ever.
	Trust func() time.Duration

	state atomic.Uint32
	kept  atomic.Int64
}

const (
	gateOpen = iota
	gateShut
	gateOver
)

// Keep notes that n more attempts wait; a negative number that fewer do. The sender calls it.
func (g *Gate) Keep(n int64) {
	if g != nil {
		g.kept.Add(n)
	}
}

// Kept returns how many attempts wait. While the gate is shut, none of them leaves.
func (g *Gate) Kept() int { return int(g.kept.Load()) }

// Shut keeps waiting attempts until Open.
func (g *Gate) Shut() { g.state.CompareAndSwap(gateOpen, gateShut) }

// Open lets attempts leave again, unless End was called.
func (g *Gate) Open() { g.state.CompareAndSwap(gateShut, gateOpen) }

// End shuts the gate for ever: what has not left is to be dropped, whether it has waited or not.
func (g *Gate) End() { g.state.Store(gateOver) }

// IsShut reports whether waiting attempts must go on waiting.
func (g *Gate) IsShut() bool { return g != nil && g.state.Load() == gateShut }

// IsTrusted reports whether attempts may leave by Trust, which may take a while to answer. The sender asks for an attempt that has waited.
func (g *Gate) IsTrusted() bool { return g == nil || g.Trust == nil || g.Trust() > 0 }

// IsOver reports whether attempts must be dropped.
func (g *Gate) IsOver() bool { return g != nil && g.state.Load() == gateOver }
