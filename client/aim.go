package client

import (
	"sync"
	"time"
)

// aim decides which node a request over NATS is for. In a cluster of several shards any node answers, and all are in one queue
// group: a node that hangs keeps its share of the requests until NATS takes it for gone, which may take minutes. Each reply there
// names the node that has sent it. After a request without an answer the client asks the node that has answered last, by its
// name, and no longer the group. The zero value asks the group. Safe for concurrent use.
type aim struct {
	mu       sync.Mutex
	isOfMany bool      // replies name their nodes
	isShut   bool      // the user of the connection may not ask one node
	last     string    // the node that has answered last; "": none, or it does not answer any more
	until    time.Time // until then the last node is asked
}

const (
	// aimFor is how long a node is asked by its name. Then the group is asked again, so that the nodes share the requests.
	aimFor = 30 * time.Second
	// lostAfter is the wait after which a request counts as one that a node has swallowed. A try is never shorter, but the
	// context of a caller may be.
	lostAfter = 900 * time.Millisecond
)

// atHeader is the header of a reply that names the node.
const atHeader = "Carillon-At"

// node returns the node to ask; "" for the group.
func (a *aim) node(now time.Time) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Before(a.until) && !a.isShut {
		return a.last
	}
	return ""
}

// refuse notes that the user of the connection may not ask one node, so that only the group is asked from now on.
func (a *aim) refuse() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isShut = true
}

// isBlind reports whether a request got no answer, and no node has answered since.
func (a *aim) isBlind(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last == "" && now.Before(a.until) && !a.isShut
}

// isKnown reports whether nodes can be asked by their names.
func (a *aim) isKnown() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.isOfMany
}

// answered notes the node that has sent a reply; "" if the reply does not name it.
func (a *aim) answered(node string) {
	if node == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isOfMany, a.last = true, node
}

// lost notes that a request to a node, or to the group, got no answer.
func (a *aim) lost(node string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == node {
		a.last = ""
	}
	a.until = now.Add(aimFor)
}

// gone notes that there is no such node any more, so that the group is asked.
func (a *aim) gone(node string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == node {
		a.last = ""
	}
}
