package replication

import (
	"sync"
	"time"
)

// distances is how long the nodes lately took to answer, over the links between them. How long this process waits for an answer
// follows from it, and whether a promise helps. Safe for concurrent use. The zero value knows no node.
type distances struct {
	mu        sync.Mutex
	of        map[string]time.Duration // average, in which the newest answer counts for a quarter
	measuring map[string]bool          // nodes to which a question of measure is under way
}

// wait returns how long this process waits for an answer of a node: twice as long as that one takes, and askTimeout at least.
func (d *distances) wait(node string) time.Duration {
	return min(max(askTimeout, 2*d.to(node)), askMost)
}

// to returns how long a node takes to answer; 0: it has not answered yet.
func (d *distances) to(node string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of[node]
}

// took records how long an answer of a node took. One for which wait would not have waited counts alone: the link has become slow.
func (d *distances) took(node string, t time.Duration) {
	isLate := t >= d.wait(node)
	d.mu.Lock()
	defer d.mu.Unlock()
	average, known := d.of[node]
	switch {
	case !known && len(d.of) >= peersMost:
		return
	case d.of == nil:
		d.of = make(map[string]time.Duration)
	}
	if !known || isLate {
		average = t
	}
	d.of[node] = average + (t-average)/4
}

// begins notes that a node is measured, unless it is already.
func (d *distances) begins(node string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.measuring[node] {
		return false
	}
	if d.measuring == nil {
		d.measuring = make(map[string]bool)
	}
	d.measuring[node] = true
	return true
}

// ends undoes begins.
func (d *distances) ends(node string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.measuring, node)
}
