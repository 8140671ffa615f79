package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// receiveCmd is the receiving process: a subscriber, or a worker. It keeps what arrives in memory, so
// that writing it down costs nothing while it counts. To each line of its standard input it answers with
// the number of arrivals; when that input ends it tells all of them.
type receiveCmd struct {
	Rival   string `arg:"" enum:"carillon,nats,river,asynq"`
	Address string `arg:""`
	Tuned   bool   `help:"Look for jobs more often than by default."`
}

// readyText is what the receiver says when it is there.
const readyText = "ready"

// tunedFlag returns the arguments that make a receiver a tuned one.
func tunedFlag(tuned bool) []string {
	if tuned {
		return []string{"--tuned"}
	}
	return nil
}

func (c *receiveCmd) run(in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var a arrivals
	receive := map[string]func(context.Context, *arrivals) error{
		"carillon": c.subscribe, "nats": c.consume, "river": c.workRiver, "asynq": c.workAsynq,
	}[c.Rival]
	if err := receive(ctx, &a); err != nil {
		return fmt.Errorf("receive from %s: %w", c.Rival, err)
	}
	fmt.Fprintln(out, readyText)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		fmt.Fprintln(out, a.count())
	}
	return a.tell(out)
}

// arrivals are what a receiver has got. It is safe for concurrent use.
type arrivals struct {
	mu    sync.Mutex
	all   []receipt
	wrong error // the first payload that says nothing
}

// add notes an arrival by its payload.
func (a *arrivals) add(arrived time.Time, payload []byte) {
	number, err := numberOf(payload)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.wrong = err
		return
	}
	a.all = append(a.all, receipt{number, arrived})
}

// addNumber notes the arrival of a job whose payload the caller has read.
func (a *arrivals) addNumber(arrived time.Time, number int) {
	a.mu.Lock()
	a.all = append(a.all, receipt{number, arrived})
	a.mu.Unlock()
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.all)
}

// tell writes all arrivals, one a line.
func (a *arrivals) tell(out io.Writer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wrong != nil {
		return a.wrong
	}
	w := bufio.NewWriter(out)
	for _, r := range a.all {
		fmt.Fprintln(w, r.number, r.arrived.UnixNano())
	}
	return w.Flush()
}
