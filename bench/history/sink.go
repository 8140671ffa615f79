package history

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Sink implements all targets: it records each delivery and answers it, sometimes with an error. It records before it
// answers, so that a delivery whose answer is lost is in the history.
type Sink struct {
	rec *Recorder
	// conn reads the stream; the subscriptions may have further ones.
	conn *nats.Conn
	http *http.Server
	url  string // URL of the HTTP target

	// guards rng and lenient
	mu      sync.Mutex
	rng     *rand.Rand
	lenient bool // set by Relent: no further errors

	// only ReadStream uses it, which is called by one goroutine at a time
	streamed uint64 // sequence of the last message read from the stream
}

// refusalPercent is the share of deliveries that the sink refuses, in percent. Enough that most jobs see retries, and
// little enough that a run does not exhaust its attempts.
const refusalPercent = 12

// sinkQueue is the queue group of all subscriptions of a sink, so that each message arrives at one of
// them.
const sinkQueue = "sink"

// StartSink subscribes to the subjects of the targets, and serves the HTTP target on a listener, which
// Close closes. With a connection to each server of a cluster it receives messages even while the
// servers cannot reach one another. The first connection reads the stream.
func StartSink(rec *Recorder, seed uint64, l net.Listener, conns ...*nats.Conn) (*Sink, error) {
	s := &Sink{rec: rec, conn: conns[0], rng: rand.New(rand.NewPCG(seed, 0)), url: "http://" + l.Addr().String()}
	s.http = &http.Server{Handler: http.HandlerFunc(s.takeHTTP), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	for _, conn := range conns {
		if err := s.subscribe(conn); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// subscribe receives the subjects of the targets nats and request on one connection. Pending messages are not
// bounded: a message that the client library drops would look like one that the server lost.
func (s *Sink) subscribe(conn *nats.Conn) error {
	for kind, take := range map[string]nats.MsgHandler{"nats": s.takeMessage, "request": s.takeRequest} {
		sub, err := conn.QueueSubscribe(subjectPrefix+kind+".*", sinkQueue, take)
		if err == nil {
			err = sub.SetPendingLimits(-1, -1)
		}
		if err != nil {
			return err
		}
	}
	return conn.Flush()
}

// Close stops listening for HTTP; the subscriptions end with their connection.
func (s *Sink) Close() { _ = s.http.Close() }

// Targets returns the addresses of the sink's targets.
func (s *Sink) Targets() *Targets { return &Targets{s.url} }

// Relent makes the sink accept everything from now on. The final phase needs it: every run must end before the final
// read.
func (s *Sink) Relent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lenient = true
}

// refuses decides at random whether the sink refuses the next delivery.
func (s *Sink) refuses() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.lenient && s.rng.IntN(100) < refusalPercent
}

// takeMessage records a delivery of a plain publish, which cannot be refused.
func (s *Sink) takeMessage(m *nats.Msg) {
	s.rec.Deliver(delivery("nats", m.Header.Get, m.Data, Now()))
}

// takeRequest records a delivery that asks for an answer, and answers it, sometimes with an error.
func (s *Sink) takeRequest(m *nats.Msg) {
	d := delivery("request", m.Header.Get, m.Data, Now())
	d.Refused = s.refuses()
	s.rec.Deliver(d)
	reply := nats.NewMsg(m.Reply)
	if d.Refused {
		reply.Header.Set("Nats-Service-Error-Code", "500")
		reply.Header.Set("Nats-Service-Error", "the sink feels like it")
	}
	_ = m.RespondMsg(reply) // a lost reply is a fault that the server must tolerate
}

// takeHTTP is takeMessage over HTTP. The time of arrival is taken before the body is read.
func (s *Sink) takeHTTP(w http.ResponseWriter, r *http.Request) {
	at := Now()
	body, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	d := delivery("http", r.Header.Get, body, at)
	d.Refused = !strings.HasPrefix(r.URL.Path, surePath) && s.refuses()
	s.rec.Deliver(d)
	if d.Refused {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// delivery decodes a delivery at any target. Missing or invalid fields stay zero, and the checks report
// them.
func delivery(target string, header func(string) string, body []byte, at Instant) Delivery {
	var payload payloadWire
	_ = json.Unmarshal(body, &payload)
	scheduled, _ := parseInstant(header("Carillon-Scheduled-At"))
	attempt, _ := strconv.Atoi(header("Carillon-Attempt"))
	fence, _ := strconv.ParseUint(header("Carillon-Fence"), 10, 64)
	return Delivery{
		Target: target, Job: header("Carillon-Job"), RunID: header("Carillon-Run-Id"), Mark: payload.Mark,
		Scheduled: scheduled, Arrived: at, Attempt: attempt, Fence: fence,
	}
}
