package bench

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// jitterCmd fires jobs at a receiver in another process and measures their lateness. Other workloads use it as a
// value, with their own rates.
type jitterCmd struct {
	Rate        int           `help:"One-shots a second, at random milliseconds." default:"200"`
	Every       int           `help:"Jobs that tick once a second." default:"200"`
	For         time.Duration `help:"Length of the window." default:"10s"`
	Armed       int           `help:"Jobs besides, armed for a far future." default:"0"`
	Register    int           `help:"Registrations a second, meanwhile." default:"0"`
	Payload     int           `help:"Bytes of the payload of each job." default:"14"`
	Checkpoints bool          `help:"Let the server make a checkpoint each second."`

	// group keeps the names of one workload apart from those of another on the same server; "" on a server of its
	// own.
	group string // prefix of the jobs' names, for a server that runs several workloads one after another
	// ahead is for servers that decide further ahead than the head start of the registration.
	ahead time.Duration // additional time between the registration of one-shots and the window
}

// defaultJitter returns the jitter of the command without flags.
func defaultJitter() *jitterCmd {
	return &jitterCmd{Rate: 200, Every: 200, For: 10 * time.Second, Payload: len(`{"bench":true}`)}
}

// The bounds of the command line's values. They refuse what a run cannot finish or hold in memory, not what is
// unusual.
const (
	everyMax       = 100_000
	armedMax       = 50_000_000
	windowMax      = time.Hour
	firesPerSecMax = 200_000
	firesMax       = 10_000_000
	payloadMax     = 256 << 10
)

// Validate refuses sizes that make no sense.
func (c *jitterCmd) Validate() error {
	for _, err := range []error{
		within("rate", c.Rate, 0, firesPerSecMax),
		within("every", c.Every, 0, everyMax),
		within("armed", c.Armed, 0, armedMax),
		within("register", c.Register, 0, 20_000),
		within("payload", c.Payload, 2, payloadMax),
	} {
		if err != nil {
			return err
		}
	}
	if c.For < time.Second || c.For > windowMax {
		return fmt.Errorf("--for is %s; want 1s to %s", c.For, windowMax)
	}
	if c.Rate+c.Every == 0 {
		return fmt.Errorf("--rate and --every are both 0; there is nothing to fire")
	}
	// Every fire is a receipt in memory.
	if fires := float64(c.Rate+c.Every) * c.For.Seconds(); fires > firesMax {
		return fmt.Errorf("that makes %.0f fires; want at most %d", fires, firesMax)
	}
	return nil
}

// setting says in words what is run.
func (c *jitterCmd) setting() string {
	parts := []string{fmt.Sprintf("%d one-shots a second and %d × @every %s for %s, %d more armed", c.Rate, c.Every, interval, c.For, c.Armed)}
	if c.Register > 0 {
		parts = append(parts, fmt.Sprintf("%d registrations a second meanwhile", c.Register))
	}
	if c.Checkpoints {
		parts = append(parts, "a checkpoint a second")
	}
	return strings.Join(append(parts, fmt.Sprintf("payloads of %d bytes; arrival at a NATS subscriber in another process", c.Payload)), ", ")
}

func (c *jitterCmd) measure(s *stand) []*result {
	r, _ := c.run(s)
	return []*result{s.show(r)}
}

// run measures on a fresh server.
func (c *jitterCmd) run(s *stand) (*result, tally) {
	r := &result{Name: "jitter", Setting: c.setting()}
	var t tally
	// The armed jobs and the one-shots are all that takes room; those of Every are few.
	if err := s.demand(c.Armed + int(float64(c.Rate)*c.For.Seconds())); err != nil {
		r.breaks("%v", err)
		return r, t
	}
	flags := []string{}
	if c.Checkpoints {
		flags = append(flags, "--checkpoint-every", "1s")
	}
	srv, cl, err := s.start("jitter", flags...)
	if err != nil {
		r.breaks("%v", err)
		return r, t
	}
	defer srv.clear()
	defer cl.Close()
	if err := arm(s, cl, c.Armed); err != nil {
		r.breaks("%v", err)
		return r, t
	}
	if t, err = c.fire(s, srv, cl, r); err == nil {
		err = errors.Join(split(s, cl, r), srv.stop())
	}
	if err != nil {
		r.breaks("%v", err)
	}
	return r, t
}

// fire registers the jobs that fire, on a server that already has the armed ones, and waits until they have arrived.
// The processor time and the pauses are those of the window alone.
func (c *jitterCmd) fire(s *stand, srv *server, cl *client.Client, r *result) (t tally, err error) {
	recv, err := s.startReceiver(srv.ready.NATS, fireSubject)
	if err != nil {
		return t, err
	}
	w, err := c.register(s, cl)
	if err != nil {
		return t, err
	}
	bare, err := s.startBare(srv.ready.NATS, fireSubject, w)
	if err != nil {
		return t, err
	}
	s.wait(time.Until(w.from))
	// The receiver belongs to the workload, so its processor time is not that of others.
	m := startMeter(srv.cmd.Process.Pid, recv.cmd.Process.Pid)
	pauses := readPauses(srv)
	registered := c.background(s, cl, w)
	s.watch("jitter", w)
	m.stop()
	ended := bare.end(s.ctx.Err() != nil)
	receipts, err := recv.collect()
	if err = errors.Join(err, ended); err != nil {
		return t, err
	}
	// After an interruption only what was due long enough ago is demanded.
	w.cut(time.Now().Add(-settleWait))
	t = w.judge(receipts)
	t.tell(r)
	m.tell(r)
	m.tellEach(r, "fire", len(t.all))
	readPauses(srv).since(pauses).tell(r)
	return t, <-registered
}

// split adds the figures that the server itself reports: how late the decision to fire was durable, and how late the
// run was launched. The difference between the two and the arrival shows where time is lost: in the decision, in the
// launch, or on the way.
func split(s *stand, cl *client.Client, r *result) error {
	ctx, cancel := s.asking()
	defer cancel()
	st, err := cl.Status(ctx)
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	for _, part := range []struct {
		key, label string
		l          client.Lateness
	}{{"decision", "decision", st.DecisionLateness}, {"launch", "launch", st.Lateness}} {
		r.add(part.key+"_p50_ms", part.label+", as the server says, p50", part.l.P50MS, "ms")
		r.add(part.key+"_p99_ms", part.label+", as the server says, p99", part.l.P99MS, "ms")
		r.add(part.key+"_max_ms", part.label+", as the server says, max", part.l.MaxMS, "ms")
	}
	if st.Failed > 0 || st.Dead > 0 {
		r.breaks("%d attempts failed, %d runs are dead", st.Failed, st.Dead)
	}
	return nil
}
