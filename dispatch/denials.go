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
	// deniedSubjectsMax bounds the subjects that denials remembers. Beyond it they are only counted.
	deniedSubjectsMax = 4096
	// denialWaitMax bounds how long settle waits for a callback that the client has queued.
	denialWaitMax = time.Second
)

// denials remembers messages that the server refused for lack of permission. It says so in an error
// that names the subject and arrives before the PONG that follows the message; the client
// keeps that error, but calls back later, from a goroutine of its own.
type denials struct {
	mu       sync.Mutex
	subjects map[string]int // refused messages that no attempt was failed for yet
	last     error
	total    uint64
	noted    chan struct{} // gets a token for each note
}

func newDenials() *denials {
	return &denials{subjects: make(map[string]int), noted: make(chan struct{}, 1)}
}

// note takes in an error of the server.
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

// deniedSubject reads the subject out of the server's text.
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

// settle waits until the callback for last, the newest error that the client knows, has run. After
// that every refusal before the last PONG is in subjects.
func (d *denials) settle(last error) {
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

// any tells whether there is a refusal to claim.
func (d *denials) any() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.subjects) > 0
}

// claim takes one refusal of a message to the subject, if there is one. Each message is refused by
// itself, so each refusal fails one attempt.
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

// reset forgets refusals of an earlier connection.
func (d *denials) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.subjects)
}

func (d *denials) count() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.total
}
