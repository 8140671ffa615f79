package scheduler

import "context"

// Drain ends the launching of runs, and waits until those that are with their targets have answered
// and are recorded, or until ctx ends. It is Hold and Settle.
func (e *Engine) Drain(ctx context.Context) {
	e.Hold()
	e.Settle(ctx)
}

// Hold ends the launching of runs, for good. Requests are served on, and ticks decided; what they would
// launch is launched by the next start, here or on another node. It does not wait.
func (e *Engine) Hold() { e.pad.hold() }

// Settle waits until the attempts that are with their targets have answered and their outcomes are
// recorded, until ctx ends, or until Serve has returned. Without Hold before, it may wait for ever.
func (e *Engine) Settle(ctx context.Context) {
	for !e.pad.isEmpty() {
		select {
		case <-e.pad.landed:
		case <-ctx.Done():
			return
		case <-e.stopped:
			return
		}
	}
	for {
		if _, some := e.outcomes.oldest(); !some || e.submit(ctx, &Barrier{}) != nil {
			return
		}
	}
}

// hold keeps everything that has not left on the pad, for good.
func (p *pad) hold() {
	p.mu.Lock()
	p.held = true
	p.mu.Unlock()
}

// isEmpty tells whether no attempt is with the sender.
func (p *pad) isEmpty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.flying) == 0
}
