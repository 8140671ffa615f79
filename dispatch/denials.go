package dispatch

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// deniedSubjectsMax bounds the subjects that denials remembers. Further ones are only counted.
	deniedSubjectsMax = 4096
	// denialWaitMax bounds how long awaitNoted waits for a callback that the client has queued.
	denialWaitMax = time.Second
)

// denials records the messages that the server refused for lack of permission. The server reports a
// refusal in an error that names only the subject and arrives before the PONG that follows the message.
// The client stores that error at once, but calls back later, on a goroutine of its own; so denials lets
// its readers wait until the callback has run. It is safe for concurrent use.
type denials struct {
	mu       sync.Mutex
	subjects map[string]int // number of refused messages by subject, without those that were claimed
	last     error          // the newest error that was noted; compared by identity with what the client has stored
	total    uint64         // all refusals, also of earlier connections
	noted    chan struct{}  // receives a token at each note
}

func newDenials() *denials {
	return &denials{subjects: make(map[string]int), noted: make(chan struct{}, 1)}
}

// note records an error that the client's callback reports.
func (d *denials) note(err error) {
	subject, ok := deniedSubject(err)
	d.mu.Lock()
	d.last = err
	if ok {
		d.total++
		if _, known := d.subjects[subject]; known || len(d.subjects) < deniedSubjectsMax {
			d.subjects[subject]++
		}
	}
	d.mu.Unlock()
	signal(d.noted)
}

// deniedSubject returns the subject in the server's error text, false if it is not about a publish. The
// server has no structured form of it, so refusals that a server words differently stay unknown here, and
// attempts of the kind nats then count as delivered.
func deniedSubject(err error) (string, bool) {
	_, quoted, ok := strings.Cut(err.Error(), "Permissions Violation for Publish to ")
	if !ok {
		return "", false
	}
	prefix, err := strconv.QuotedPrefix(quoted)
	if err != nil {
		return "", false
	}
	subject, err := strconv.Unquote(prefix)
	return subject, err == nil
}

// awaitNoted waits until the callback for last, the newest error that the client has stored, has run.
// After that, subjects contains every refusal before the last PONG.
func (d *denials) awaitNoted(last error) {
	if !errors.Is(last, nats.ErrPermissionViolation) {
		return
	}
	timer := time.NewTimer(denialWaitMax)
	defer timer.Stop()
	for {
		d.mu.Lock()
		seen := d.last == last
		d.mu.Unlock()
		if seen {
			return
		}
		select {
		case <-d.noted:
		case <-timer.C:
			return
		}
	}
}

// any reports whether there is a refusal to claim.
func (d *denials) any() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.subjects) > 0
}

// claim removes one refusal of a message to the subject and returns true, or returns false if there is
// none. The server refuses each message by itself, so each refusal fails one attempt. Messages to one
// subject are interchangeable for it, since permission depends on the subject only.
func (d *denials) claim(subject string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.subjects[subject]
	if n <= 1 {
		delete(d.subjects, subject)
	} else {
		d.subjects[subject] = n - 1
	}
	return n > 0
}

// reset drops the refusals of an earlier connection. The attempts whose refusals were not claimed by then
// fail as unconfirmed, since their life is over.
func (d *denials) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.subjects)
}

// count returns the number of all refusals so far, including those that were claimed or reset.
func (d *denials) count() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.total
}
