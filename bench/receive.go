package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// receiveCmd is the receiving process. It keeps the arrivals in memory, so that writing them costs nothing during the
// measurement, and prints all of them when its standard input ends. It is a process of its own, so that the collector
// and the locks of the harness do not delay an arrival.
type receiveCmd struct {
	URL     string `arg:""`
	Subject string `arg:""`
}

// receipt is one arrival. The time of arrival is taken before anything is decoded.
type receipt struct {
	// job is the name, which says what was due.
	job       string
	runID     string
	scheduled time.Time
	arrived   time.Time
}

// readyText is the line that the receiver prints when it is subscribed. The parent waits for it, because a run that
// arrives before the subscription would count as lost.
const readyText = "subscribed"

// run subscribes, prints readyText, receives until its input ends, and prints what it has received.
func (c *receiveCmd) run(in io.Reader, out io.Writer) error {
	signal.Ignore(os.Interrupt) // only the parent process handles Ctrl-C, and then collects the receipts
	conn, err := nats.Connect(c.URL, nats.Name("bench receiver"), nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	defer conn.Close()
	var mu sync.Mutex
	var all []receipt
	sub, err := conn.Subscribe(c.Subject, func(m *nats.Msg) {
		arrived := time.Now()
		scheduled, _ := time.Parse(time.RFC3339, m.Header.Get("Carillon-Scheduled-At"))
		mu.Lock()
		all = append(all, receipt{m.Header.Get("Carillon-Job"), m.Header.Get("Carillon-Run-Id"), scheduled, arrived})
		mu.Unlock()
		// A target of kind request waits for the answer; its content does not matter.
		if m.Reply != "" {
			_ = m.Respond(nil)
		}
	})
	if err == nil {
		err = sub.SetPendingLimits(-1, -1)
	}
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, readyText)
	_, _ = io.Copy(io.Discard, in)
	_ = conn.Drain()
	mu.Lock()
	defer mu.Unlock()
	w := bufio.NewWriter(out)
	for _, r := range all {
		fmt.Fprintf(w, "%d %d %s %s\n", r.arrived.UnixMicro(), r.scheduled.UnixMilli(), r.job, r.runID)
	}
	return w.Flush()
}

// receiver is a running receiving process. Its pipes are the only connection to it: the end of its input asks for
// the receipts.
type receiver struct {
	cmd   *exec.Cmd
	input io.Closer
	// lines reads the ready line first and the receipts at the end.
	lines *bufio.Scanner
}

// startReceiver starts this program again as the receiver of a subject. It returns when the subscription is in force,
// so that no run is missed.
func (s *stand) startReceiver(url, subject string) (*receiver, error) {
	args := slices.Concat(s.program.Args, []string{"receive", url, subject})
	r := &receiver{cmd: exec.Command(s.program.Self, args...)}
	r.cmd.Stderr = os.Stderr
	var err error
	if r.input, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the receiver: %w", err)
	}
	r.lines = bufio.NewScanner(stdout)
	if !r.lines.Scan() || r.lines.Text() != readyText {
		return nil, fmt.Errorf("the receiver did not start: %w", r.cmd.Wait())
	}
	return r, nil
}

// collect ends the receiver and returns its receipts. The receiver first drains its subscription, so that what has
// arrived is counted.
func (r *receiver) collect() ([]receipt, error) {
	_ = r.input.Close()
	var all []receipt
	for r.lines.Scan() {
		one, err := parseReceipt(r.lines.Text())
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if err := r.lines.Err(); err != nil {
		return nil, fmt.Errorf("read the receipts: %w", err)
	}
	return all, r.cmd.Wait()
}

// parseReceipt parses one line of the receiver's output. Arrival is in microseconds and the scheduled time in
// milliseconds, as the product has it.
func parseReceipt(line string) (receipt, error) {
	fields := strings.Split(line, " ")
	if len(fields) != 4 {
		return receipt{}, fmt.Errorf("receipt %q has %d fields; want 4", line, len(fields))
	}
	arrived, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return receipt{}, fmt.Errorf("receipt %q: %w", line, err)
	}
	scheduled, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return receipt{}, fmt.Errorf("receipt %q: %w", line, err)
	}
	return receipt{job: fields[2], runID: fields[3], scheduled: time.UnixMilli(scheduled), arrived: time.UnixMicro(arrived)}, nil
}
