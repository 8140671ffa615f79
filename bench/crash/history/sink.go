package history

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Sink is the targets: it records what arrives and answers, sometimes with an error.
type Sink struct {
	rec  *Recorder
	conn *nats.Conn
	http *http.Server
	url  string // of the HTTP target

	mu      sync.Mutex
	rng     *rand.Rand
	lenient bool // no error any more

	streamed uint64 // last message of the stream that was read
}

// refusalPercent is how many of a hundred deliveries the sink refuses.
const refusalPercent = 12

// StartSink subscribes to the subjects of the targets, and listens for the HTTP ones on a free port.
func StartSink(rec *Recorder, conn *nats.Conn, seed uint64) (*Sink, error) {
	s := &Sink{rec: rec, conn: conn, rng: rand.New(rand.NewPCG(seed, 0))}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.url = "http://" + l.Addr().String()
	s.http = &http.Server{Handler: http.HandlerFunc(s.takeHTTP), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	for kind, take := range map[string]nats.MsgHandler{"nats": s.takeMessage, "request": s.takeRequest} {
		sub, err := conn.Subscribe(subjectPrefix+kind+".*", take)
		if err == nil {
			err = sub.SetPendingLimits(-1, -1)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, conn.Flush()
}

// Close stops listening for HTTP; the subscriptions end with their connection.
func (s *Sink) Close() { _ = s.http.Close() }

// Targets tells where the sink listens.
func (s *Sink) Targets() *Targets { return &Targets{s.url} }

// Relent makes the sink accept everything from now on.
func (s *Sink) Relent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lenient = true
}

func (s *Sink) refuses() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.lenient && s.rng.IntN(100) < refusalPercent
}

func (s *Sink) takeMessage(m *nats.Msg) {
	s.rec.Deliver(delivery("nats", m.Header.Get, m.Data, Now()))
}

func (s *Sink) takeRequest(m *nats.Msg) {
	d := delivery("request", m.Header.Get, m.Data, Now())
	d.Refused = s.refuses()
	s.rec.Deliver(d)
	reply := nats.NewMsg(m.Reply)
	if d.Refused {
		reply.Header.Set("Nats-Service-Error-Code", "500")
		reply.Header.Set("Nats-Service-Error", "the sink feels like it")
	}
	_ = m.RespondMsg(reply) // a lost answer is one of the faults that the server has to live with
}

func (s *Sink) takeHTTP(w http.ResponseWriter, r *http.Request) {
	at := Now()
	body, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	d := delivery("http", r.Header.Get, body, at)
	d.Refused = s.refuses()
	s.rec.Deliver(d)
	if d.Refused {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// delivery reads what every target receives. What is missing or unreadable stays zero, and the
// checks find it.
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
