package bench

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// noiseCmd is the flooding process. It is a process of its own, so that its work does not delay the requests of the
// other tenant within the harness. It prints how many requests it sent, how many replies came, how many of them were
// refusals for too many requests, and how often it lost a connection.
type noiseCmd struct {
	URL         string        `arg:""`
	Mix         string        `arg:""`
	Requests    int           `arg:""`
	Connections int           `arg:""`
	Parallel    int           `arg:""`
	Readers     int           `arg:""`
	For         time.Duration `arg:""`
	Seed        uint64        `arg:""`

	sent, answered, limited, lost atomic.Int64

	open []net.Conn // those that read nothing
}

// noisePatience is how long a connection waits for any reply before it sends more without one.
const noisePatience = 2 * time.Second

// noiseVerbs are asked for at random; the last is no verb.
var noiseVerbs = []string{"jobs.put", "jobs.get", "jobs.list", "jobs.put_many", "runs.get", "runs.report", "jobs.trigger", "status", "jobs.nonsense"}

// largeEvery is how many requests come for each with a payload over the limit of a job.
const largeEvery = 2000

func (c *noiseCmd) run(out io.Writer) error {
	var wg sync.WaitGroup
	if c.Mix == "readers" {
		if err := c.openReaders(); err != nil {
			return err
		}
	}
	errs := make([]error, c.Connections)
	for i := range c.Connections {
		wg.Go(func() { errs[i] = c.send(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, c.sent.Load(), c.answered.Load(), c.limited.Load(), c.lost.Load())
	return err
}

// comeIn connects, before a time. A server that has disconnected noise refuses more for a while, as it refuses one without
// rights, and each such refusal is a loss. The result is nil if the server refuses it until then.
func (c *noiseCmd) comeIn(over time.Time) (*nats.Conn, error) {
	for time.Now().Before(over) {
		nc, err := c.connect()
		if !errors.Is(err, nats.ErrAuthorization) {
			return nc, err
		}
		c.lost.Add(1)
		time.Sleep(noiseAgain)
	}
	return nil, nil
}

// connect makes a connection of the noise, which comes back after a loss.
func (c *noiseCmd) connect() (*nats.Conn, error) {
	return nats.Connect(c.URL, nats.Name("bench noise"), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond), nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // refused bytes are part of the noise
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.lost.Add(1)
			}
		}))
}

// send makes the requests of one connection. It has as many without a reply at a time as its part of all is.
func (c *noiseCmd) send(number int) error {
	over := time.Now().Add(c.For)
	nc, err := c.comeIn(over)
	if nc == nil || err != nil {
		return err
	}
	defer nc.Close()
	places := make(chan struct{}, max(1, c.Parallel/c.Connections))
	inbox := nats.NewInbox()
	sub, err := nc.Subscribe(inbox, func(m *nats.Msg) {
		c.answered.Add(1)
		if m.Header.Get("Nats-Service-Error-Code") == "429" {
			c.limited.Add(1)
		}
		select {
		case <-places:
		default:
		}
	})
	if err != nil {
		return err
	}
	_ = sub.SetPendingLimits(-1, -1)
	next := noiseOf(c.Mix, rand.New(rand.NewPCG(c.Seed, uint64(number))))
	patience := time.NewTimer(noisePatience)
	for i := 0; i < c.Requests/c.Connections && comesBack(nc, over); i++ {
		subject, body := next(i)
		if c.Mix == "readers" {
			if err := lossless(nc, nc.Publish(subject, body)); err != nil {
				return err
			}
			c.sent.Add(1)
			continue
		}
		patience.Reset(noisePatience)
		select {
		case places <- struct{}{}:
		case <-patience.C:
			for len(places) > 1 { // what has no reply by now gets none
				<-places
			}
		}
		c.sent.Add(1)
		if err := lossless(nc, nc.PublishRequest(subject, inbox, body)); err != nil {
			return err
		}
	}
	for until := time.Now().Add(noisePatience); len(places) > 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	return nil
}

// comesBack waits until a connection that was lost is back. It returns false when the noise is over.
func comesBack(nc *nats.Conn, over time.Time) bool {
	for time.Now().Before(over) {
		if nc.IsConnected() {
			return true
		}
		time.Sleep(noiseAgain)
	}
	return false
}

// noiseAgain is how often the noise looks whether a connection is back.
const noiseAgain = 5 * time.Millisecond

// lossless returns the error of sending on a connection that is closed for good. Any other error is that of a connection
// that is lost, or is about to be noticed as lost: losses are counted.
func lossless(nc *nats.Conn, err error) error {
	if !nc.IsClosed() {
		return nil
	}
	return err
}

// noise is a running flooding process.
type noise struct {
	cmd   *exec.Cmd
	text  strings.Builder // what it printed
	ended chan struct{}
	err   error // of the process; valid once ended is closed
}

// startNoise starts this program again as the one that floods.
func (s *stand) startNoise(url string, c *floodCmd) (*noise, error) {
	args := slices.Concat(s.program.Args, []string{
		"noise", url, c.Mix, strconv.Itoa(c.Requests), strconv.Itoa(c.Connections), strconv.Itoa(c.Parallel), strconv.Itoa(c.Readers),
		c.For.String(), strconv.FormatUint(s.seed, 10),
	})
	program := s.program.Self
	if c.NoiseNice > 0 {
		// It becomes the noise itself, with the same process id.
		args = append([]string{"-n", strconv.Itoa(c.NoiseNice), program}, args...)
		program = "nice"
	}
	n := &noise{cmd: exec.Command(program, args...), ended: make(chan struct{})}
	n.cmd.Stderr, n.cmd.Stdout = os.Stderr, &n.text
	if err := n.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the noise: %w", err)
	}
	go func() {
		n.err = n.cmd.Wait()
		close(n.ended)
	}()
	return n, nil
}

// used returns the processor time of the process, or 0 while it has not ended.
func (n *noise) used() time.Duration {
	if !isClosed(n.ended) || n.cmd.ProcessState == nil {
		return 0
	}
	return n.cmd.ProcessState.UserTime() + n.cmd.ProcessState.SystemTime()
}

// collect ends the process if it has not ended, and returns what it printed.
func (n *noise) collect() (string, error) {
	_ = n.cmd.Process.Kill() // fails if it has ended
	<-n.ended
	return n.text.String(), n.err
}
