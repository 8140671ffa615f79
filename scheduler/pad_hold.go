package scheduler

// hold keeps everything on the pad that has not left.
func (p *pad) hold() {
	p.mu.Lock()
	p.held = true
	p.mu.Unlock()
}

// resume allows launches to leave again. Turns that became free meanwhile go to the launches that wait for them.
func (p *pad) resume() {
	p.mu.Lock()
	p.held = false
	for id, queue := range p.parked {
		if p.turns[id].mayTake(queue[0]) {
			p.stallLocked(id, p.clock())
		}
	}
	p.mu.Unlock()
	p.wake()
}

// isEmpty reports whether no attempt is with the sender.
func (p *pad) isEmpty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.flying) == 0
}

// whenLanded returns a channel of capacity 1 that is signalled when no attempt is with the sender.
func (p *pad) whenLanded() <-chan struct{} { return p.landed }
