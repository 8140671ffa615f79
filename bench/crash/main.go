package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/bench/history"
	"github.com/carillon-io/carillon/bench/kit"
)

// options are the values of the command line. A run is repeated by all of them but keep and temp.
type options struct {
	binary   string
	cycles   int
	clients  int
	seed     uint64
	embedded bool
	keep     bool
	temp     string
}

// The bounds of the command line's values.
const (
	// The history is in memory, so it bounds how long a run may be.
	cyclesMax  = 10_000
	clientsMax = 256
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its inputs and outputs as parameters. It returns the exit status: 0 if every promise
// was kept, 1 if not, 2 for an invalid command line.
func run(args []string, out, progress io.Writer) int {
	opts, err := parse(args, progress)
	if err != nil {
		fmt.Fprintln(progress, "crash:", err)
		return 2
	}
	fmt.Fprintf(out, "seed %d; repeat with: %s\n", opts.seed, opts.command())
	return kit.Run("crash", opts.temp, progress, func(ctx context.Context, dir string) (failed int, err error) {
		h := crash(ctx, opts, dir, progress)
		findings := history.CheckAll(h)
		failed = history.Report(out, h, findings)
		return failed, tidy(dir, opts, h, findings, progress)
	})
}

// tidy removes the directory of a run. After a violation, or with --keep, it keeps the directory and writes the
// histories into it. What is kept is enough to look for the cause without repeating the run.
func tidy(dir string, opts options, h *history.History, findings []history.Finding, progress io.Writer) error {
	violations := history.ViolationsOf(findings)
	if len(violations) == 0 && !opts.keep {
		return os.RemoveAll(dir)
	}
	fmt.Fprintf(progress, "kept in %s: the data, the server's log (stderr.log), what the checks found (findings.txt), histories of jobs with a fault (histories.txt)\n", dir)
	return errors.Join(history.WriteFindings(filepath.Join(dir, "findings.txt"), h, findings),
		history.WriteHistories(filepath.Join(dir, "histories.txt"), h, violations))
}

// crash makes the run and returns its history, which includes the error that ended the run early, if there is one. It
// never returns an error: whatever happens, the history so far is checked.
func crash(ctx context.Context, opts options, dir string, progress io.Writer) *history.History {
	r, err := newRig(ctx, opts, dir, progress)
	if err == nil {
		err = r.run(ctx)
	}
	if err != nil {
		r.rec.Surprise(err.Error())
	}
	r.close()
	return r.history()
}

// parse parses the command line, and draws a seed if it has none.
func parse(args []string, usage io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("crash", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&o.binary, "binary", "bin/carillon", "server to kill")
	flags.IntVar(&o.cycles, "cycles", 30, "how often to kill it")
	flags.IntVar(&o.clients, "clients", 8, "how many clients load it")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of the load and of the deaths; 0 is a random one")
	flags.BoolVar(&o.embedded, "embedded", false, "use the NATS server inside the process that is killed, instead of one that survives")
	flags.BoolVar(&o.keep, "keep", false, "keep the data directory in any case")
	flags.StringVar(&o.temp, "temp", "", "directory for the data; default the system's")
	if err := kit.Parse(flags, args, &o.seed); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *options) validate() error {
	path, err := kit.Binary(o.binary)
	switch {
	case err != nil:
		return err
	case o.cycles < 1 || o.cycles > cyclesMax:
		return fmt.Errorf("--cycles is %d; want 1 to %d", o.cycles, cyclesMax)
	case o.clients < 1 || o.clients > clientsMax:
		return fmt.Errorf("--clients is %d; want 1 to %d", o.clients, clientsMax)
	}
	o.binary = path
	return nil
}

// command returns the command line that repeats a run. The same seed gives the same requests and deaths;
// their timing on the machine differs from run to run.
func (o *options) command() string {
	line := fmt.Sprintf("go run ./bench/crash --binary %s --cycles %d --clients %d --seed %d", o.binary, o.cycles, o.clients, o.seed)
	if o.embedded {
		line += " --embedded"
	}
	return line
}
