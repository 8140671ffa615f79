package main

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/heap"
	"github.com/carillon-io/carillon/instant"
	fired "github.com/carillon-io/carillon/job"
)

// bareJob is a job that the bare program holds.
type bareJob struct {
	Number  int             `json:"n"`
	Millis  int64           `json:"at"`
	Payload json.RawMessage `json:"payload"`
}

// Before implements [heap.Item].
func (j *bareJob) Before(other *bareJob) bool { return j.Millis < other.Millis }

// SetIndex implements [heap.Item].
func (j *bareJob) SetIndex(int) {}

// bareTick publishes jobs when they are due. One goroutine does all of it: a program that hands what is due to others, as
// Carillon does so that none waits for the answer to a PING, pays for each change from one to the next.
type bareTick struct {
	conn *nats.Conn
	msg  nats.Msg
	quit chan struct{} // closed by stop
	done chan struct{} // closed when run has returned

	mu   sync.Mutex
	jobs heap.Heap[*bareJob]
}

// bareLook is how long it sleeps at most, so that it sees what has come meanwhile. Who gives it a job gives it more time.
const bareLook = 100 * time.Millisecond

// confirmWait is how long the server may take for the answer to a PING.
const confirmWait = 10 * time.Second

func newBareTick(conn *nats.Conn) *bareTick {
	msg := nats.Msg{Subject: fireSubject, Header: nats.Header{
		nats.MsgIdHdr: {""}, "Carillon-Run-Id": {""}, "Carillon-Job": {""}, "Carillon-Tenant": {"default"},
		"Carillon-Scheduled-At": {""}, "Carillon-Attempt": {"1"}, "Carillon-Fence": {"1"},
	}}
	return &bareTick{conn: conn, msg: msg, quit: make(chan struct{}), done: make(chan struct{})}
}

// take holds the jobs of a request.
func (t *bareTick) take(m *nats.Msg) {
	var jobs []bareJob
	if err := json.Unmarshal(m.Data, &jobs); err != nil {
		bareAnswer(m, err.Error())
		return
	}
	t.hold(jobs)
	bareAnswer(m, "")
}

func (t *bareTick) hold(jobs []bareJob) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range jobs {
		t.jobs.Push(&jobs[i])
	}
}

// run sleeps in the kernel, publishes, and has the server confirm what it has published, until stop. A timer of Go would wake
// it up to a millisecond late, since it waits in whole ones.
func (t *bareTick) run() {
	defer close(t.done)
	var due []*bareJob
	for !t.stopped() {
		var next time.Time
		due, next = t.due(time.Now(), due[:0])
		for i, j := range due {
			t.publish(j)
			due[i] = nil
		}
		if len(due) > 0 {
			if err := t.conn.FlushTimeout(confirmWait); err != nil {
				bareEnd("have its messages confirmed", err)
			}
		}
		sleepThread(time.Until(next))
	}
}

// stop ends run and waits for it, at most bareLook and the confirmation of what is under way. It comes before the end of the
// connection: a message that cannot be confirmed ends the process.
func (t *bareTick) stop() {
	close(t.quit)
	<-t.done
}

func (t *bareTick) stopped() bool {
	select {
	case <-t.quit:
		return true
	default:
		return false
	}
}

// due takes the jobs that are due, and returns when to look again.
func (t *bareTick) due(now time.Time, due []*bareJob) ([]*bareJob, time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.jobs) > 0 && t.jobs[0].Millis <= now.UnixMilli() {
		due = append(due, t.jobs.Pop())
	}
	next := now.Add(bareLook)
	if len(t.jobs) > 0 {
		if at := time.UnixMilli(t.jobs[0].Millis); at.Before(next) {
			next = at
		}
	}
	return due, next
}

// publish sends the message of a job, with the headers of one of Carillon.
func (t *bareTick) publish(j *bareJob) {
	at := instant.Millis(j.Millis)
	run := fired.RunID{Job: fired.ID(j.Number), At: at}.String()
	h := t.msg.Header
	h[nats.MsgIdHdr][0], h["Carillon-Run-Id"][0] = run, run
	h["Carillon-Job"][0], h["Carillon-Scheduled-At"][0] = strconv.Itoa(j.Number), at.String()
	t.msg.Data = j.Payload
	if err := t.conn.PublishMsg(&t.msg); err != nil {
		bareEnd("publish", err)
	}
}
