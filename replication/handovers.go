package replication

import (
	"sync"

	"github.com/carillon-io/carillon/apierr"
)

// handovers are the requests to hand over that wait for the loop of a leader. They belong to one leadership: what waits when it
// ends is refused, because a request that waited for the next one would undo what has happened meanwhile. The zero value takes
// none. Safe for concurrent use.
type handovers struct {
	mu      sync.Mutex
	serving bool
	waiting chan handover // capacity 1; made by begin
}

var (
	errBegins    = apierr.Errorf(apierr.Unavailable, "", "this node begins to lead, or ceases to; nothing has changed, ask again")
	errHandsOver = apierr.Errorf(apierr.Unavailable, "", "another hand-over is under way; nothing has changed, ask again")
	errLedBefore = apierr.Errorf(apierr.Unavailable, "", "another hand-over was under way, and this node does not lead any more; nothing has changed, ask again")
)

// begin takes requests from now on, and returns the channel of those that wait.
func (w *handovers) begin() <-chan handover {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serving, w.waiting = true, make(chan handover, 1)
	return w.waiting
}

// ask lets a request wait for the loop. After an error it does not wait, and its caller refuses it.
func (w *handovers) ask(h handover) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.serving {
		return errBegins
	}
	select {
	case w.waiting <- h:
		return nil
	default:
		return errHandsOver
	}
}

// end takes no more requests, and refuses the one that waits.
func (w *handovers) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serving = false
	select {
	case h := <-w.waiting: // nil if it never began: then nothing waits
		h.reply("", errLedBefore)
	default:
	}
}
