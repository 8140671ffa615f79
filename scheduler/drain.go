package scheduler

import "context"

// Drain ends the launching of runs, and waits until those that are with their targets have answered
// and are recorded, or until ctx ends. Requests are served meanwhile, and ticks decided; what they
// would launch is launched by the next start.
func (e *Engine) Drain(ctx context.Context) {
	e.pad.hold()
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
