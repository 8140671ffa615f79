package replication

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// NewProcess draws an identifier that no other process has. Identifiers sort by the start of their processes,
// as far as the clocks of the machines agree. yieldsTo depends on this order, so the digits of the time come
// first and have a fixed width.
func NewProcess() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return fmt.Sprintf("%012x", time.Now().UnixMilli()) + hex.EncodeToString(b)
}

// ErrReplaced is returned by [Node.Run] if another process runs under the node's name and that one is to go on.
// This happens when a process stood still, was replaced, and wakes up.
var ErrReplaced = errors.New("replication: this process was replaced")

// twin is the agreement with another process that runs under this node's name. The process that is to end asks
// the other one whether it stays, and ends only when that one confirms it. A process that confirms withdraws
// its own question, so the two never both end. Safe for concurrent use.
type twin struct {
	beats chan beat // beats of the other process, read by watchTwin; capacity 1

	mu     sync.Mutex
	asking bool // this process has asked the other one whether it stays
	ends   bool // the other process has confirmed that it stays: this one ends
}

// yieldRequest asks another process of the node's name whether it stays.
type yieldRequest struct {
	Process string `json:"process"` // the process that asks, and would end
	To      string `json:"to"`      // the process that is asked
}

// yieldReply confirms that the process stays.
type yieldReply struct {
	Node    string `json:"node"`
	Process string `json:"process"` // the process that stays
}

// meet passes on a beat of another process of this name. It never blocks: if the channel is full the beat is
// dropped, and the next one follows.
func (t *twin) meet(b beat) {
	select {
	case t.beats <- b:
	default:
	}
}

// begin notes that this process has asked whether the other one stays.
func (t *twin) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking = true
}

// finish records the answer, and reports whether this process ends.
func (t *twin) finish(stays bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ends = t.ends || t.asking && stays
	t.asking = false
	return t.ends
}

// mayStay reports whether this process may confirm that it stays. If both processes ask each other, only the
// one that started later may.
func (t *twin) mayStay(later bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends || t.asking && !later {
		return false
	}
	t.asking = false
	return true
}

// askEach sends a request and passes each reply to handle, until handle returns true or ctx ends, whose error it
// then returns. It returns [nats.ErrNoResponders] if no subscriber exists. It reads several replies because a
// JetStream stream over the subject replies too.
func askEach(ctx context.Context, conn *nats.Conn, subject string, handle func(*nats.Msg) (enough bool)) error {
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := conn.PublishRequest(subject, inbox, nil); err != nil {
		return err
	}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		switch {
		case err != nil:
			return err
		case len(m.Data) == 0 && m.Header.Get("Status") == "503":
			return nats.ErrNoResponders
		case handle(m):
			return nil
		}
	}
}

// replaced returns why this process must end in favour of another one of its name; nil if it need not.
func (n *Node) replaced(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrReplaced) {
		return cause
	}
	return nil
}
