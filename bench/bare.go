package bench

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// bareRate is how often the bare program publishes a second: enough for a p99 of a window of seconds, and little beside what
// the server has to do.
const bareRate = 100

// barePrefix is the prefix of the names by which the receiver tells the messages of the bare program.
const barePrefix = "bare-"

// bareCmd is the program that lateness is compared with: a thread of its own sleeps until each of some instants, and
// publishes through the NATS of the server. It decides nothing, records nothing and reads nothing, so no scheduler on the
// same machine and the same NATS can be much more punctual.
type bareCmd struct {
	URL     string        `arg:""`
	Subject string        `arg:""`
	From    int64         `arg:"" help:"Begin of the window, in milliseconds of Unix time."`
	For     time.Duration `arg:""`
	Seed    uint64        `arg:""`
}

// run publishes at random milliseconds of the window, which come from the seed.
func (c *bareCmd) run() error {
	signal.Ignore(os.Interrupt) // the parent process ends it
	conn, err := nats.Connect(c.URL, nats.Name("bench bare"))
	if err != nil {
		return err
	}
	defer conn.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i, at := range c.instants() {
		if time.Now().After(at) {
			continue // it was started late; what it missed says nothing about sleeping
		}
		sleepUntil(at)
		m := nats.NewMsg(c.Subject)
		name := barePrefix + strconv.Itoa(i)
		m.Header.Set("Carillon-Scheduled-At", at.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
		m.Header.Set("Carillon-Job", name)
		m.Header.Set("Carillon-Run-Id", name)
		if err := conn.PublishMsg(m); err != nil {
			return err
		}
	}
	return conn.FlushTimeout(time.Minute)
}

// instants returns when to publish, sorted.
func (c *bareCmd) instants() []time.Time {
	rng := rand.New(rand.NewPCG(c.Seed, 3))
	all := make([]time.Time, int(c.For.Seconds()*bareRate))
	for i := range all {
		all[i] = time.UnixMilli(c.From + rng.Int64N(max(1, c.For.Milliseconds())))
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// bare is a running bare program.
type bare struct{ cmd *exec.Cmd }

// startBare starts this program again as the bare program of a window. It must be called before the window begins.
func (s *stand) startBare(url, subject string, w *window) (*bare, error) {
	args := slices.Concat(s.program.Args, []string{
		"bare", url, subject, strconv.FormatInt(w.from.UnixMilli(), 10), w.to.Sub(w.from).String(), strconv.FormatUint(s.seed, 10),
	})
	b := &bare{cmd: exec.Command(s.program.Self, args...)}
	b.cmd.Stdout, b.cmd.Stderr = io.Discard, os.Stderr
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the bare program: %w", err)
	}
	return b, nil
}

// end waits for the end of the bare program, which comes with the end of the window; after an interruption it ends it.
func (b *bare) end(isCut bool) error {
	if isCut {
		_ = b.cmd.Process.Kill() // fails if it has ended
		_ = b.cmd.Wait()
		return nil
	}
	return b.cmd.Wait()
}

// tellBare adds the lateness of the bare program, and how many times as late the server was.
func (t *tally) tellBare(r *result) {
	if len(t.bare) == 0 || len(t.all) == 0 {
		return
	}
	r.spread("bare", "of a bare program that sleeps and publishes", t.bare)
	ours := t.all.points()
	for i, p := range t.bare.points() {
		if (p.key == "p50" || p.key == "p99") && p.value > 0 {
			r.add("lateness_to_bare_"+p.key, "lateness "+p.label+", times that of the bare program", float64(ours[i].value)/float64(p.value), "")
		}
	}
}
