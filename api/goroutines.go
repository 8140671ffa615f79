package api

import "sync/atomic"

// idleMax bounds the goroutines that a service keeps for its next requests. Each keeps a stack of 8 to 32 KiB, which the
// collector halves while the goroutine is idle.
const idleMax = 64

// goroutines carry out requests. One that has ended its request waits for the next one, because its stack has grown by
// then: a new goroutine copies its stack three times until it is large enough for a request, which is a tenth of what a
// small request costs. A nil one starts a new goroutine each time. Safe for concurrent use.
type goroutines struct {
	next  chan func()
	ended chan struct{}
	idle  atomic.Int32 // those that wait for next, or are about to
}

func newGoroutines() *goroutines {
	return &goroutines{next: make(chan func()), ended: make(chan struct{})}
}

// run calls f on a goroutine of its own, and does not wait.
func (g *goroutines) run(f func()) {
	if g == nil {
		go f()
		return
	}
	select {
	case g.next <- f:
	default:
		go g.serve(f)
	}
}

// serve calls f, and then what run gives it, unless enough others wait.
func (g *goroutines) serve(f func()) {
	for {
		f()
		f = nil // or an idle goroutine would keep its last request in memory
		if g.idle.Add(1) > idleMax {
			g.idle.Add(-1)
			return
		}
		select {
		case f = <-g.next:
			g.idle.Add(-1)
		case <-g.ended:
			return
		}
	}
}

// end ends the goroutines that wait, and each other one after its request. It is called once. What run gets later is called
// nevertheless.
func (g *goroutines) end() { close(g.ended) }
