package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/carillon-io/carillon/bench/kit"
)

// options are the values of the command line.
type options struct {
	binary string
	window time.Duration
	jobs   int
	seed   uint64
	keep   bool
	temp   string
}

// The bounds of the command line's values.
const (
	windowMin, windowMax = 2 * time.Minute, 24 * time.Hour
	jobsMin, jobsMax     = 20, 1000
)

// The process of cron is killed when the thread that started it ends, so that nothing outlives this program. The main
// thread lives as long as the program.
func init() { runtime.LockOSThread() }

func main() {
	if filepath.Base(os.Args[0]) == actName {
		os.Exit(act(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its inputs and outputs as parameters. It returns the exit status: 0 if both sides did the same, 1 if
// not, 2 for an invalid command line or a machine without cron.
func run(args []string, out, progress io.Writer) int {
	opts, err := parse(args, progress)
	if err == nil {
		err = cronIsHere()
	}
	if err != nil {
		fmt.Fprintln(progress, "cron:", err)
		return 2
	}
	fmt.Fprintf(out, "seed %d; repeat with: %s\n", opts.seed, opts.command())
	return kit.Run("cron", opts.temp, progress, func(ctx context.Context, dir string) (failed int, err error) {
		seen, err := watch(ctx, opts, dir, progress)
		if err != nil {
			return 0, fmt.Errorf("%w; kept: %s", err, dir)
		}
		failed, err = report(out, seen, compare(seen))
		if failed > 0 || opts.keep {
			fmt.Fprintln(progress, "kept:", dir)
			return failed, err
		}
		return failed, os.RemoveAll(dir)
	})
}

// parse parses the command line, and draws a seed if it has none.
func parse(args []string, usage io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("cron", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&o.binary, "binary", "bin/carillon", "server and worker to compare with cron")
	flags.DurationVar(&o.window, "for", time.Hour, "how long both run the table, in whole minutes")
	flags.IntVar(&o.jobs, "jobs", 200, "how many lines the table has")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of the table; 0 is a random one")
	flags.BoolVar(&o.keep, "keep", false, "keep the directory with table, notes and logs")
	flags.StringVar(&o.temp, "temp", "/var/tmp", "directory for the data, which all users can reach")
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
	case o.window < windowMin || o.window > windowMax || o.window%time.Minute != 0:
		return fmt.Errorf("--for is %s; want whole minutes from %s to %s", o.window, windowMin, windowMax)
	case o.jobs < jobsMin || o.jobs > jobsMax:
		return fmt.Errorf("--jobs is %d; want %d to %d", o.jobs, jobsMin, jobsMax)
	}
	o.binary = path
	return nil
}

// command returns the command line that repeats a run: with the same table, at other times of the day.
func (o *options) command() string {
	return fmt.Sprintf("go run ./bench/cron --binary %s --for %s --jobs %d --seed %d", o.binary, o.window, o.jobs, o.seed)
}
