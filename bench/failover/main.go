package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/bench/history"
	"github.com/carillon-io/carillon/bench/kit"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == natsCommand {
		os.Exit(runNATS(os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with what it touches as parameters. It returns the exit status: 0 if every promise was
// kept, 1 if not, 2 if the command line makes no sense.
func run(args []string, out, progress io.Writer) int {
	opts, err := parse(args, progress)
	if err != nil {
		fmt.Fprintln(progress, "failover:", err)
		return 2
	}
	fmt.Fprintf(progress, "seed %d; repeat with: %s\n", opts.seed, opts.command())
	status := kit.Run("failover", opts.temp, progress, func(ctx context.Context, dir string) (failed int, err error) {
		h := failover(ctx, opts, dir, progress)
		findings := history.CheckAll(h)
		failed, err = tell(out, progress, opts, h, findings)
		return failed, errors.Join(err, tidy(dir, opts, h, findings, progress))
	})
	if status != 0 {
		fmt.Fprintf(progress, "repeat with: %s\n", opts.command())
	}
	return status
}

// tell reports what was measured and what was found, and returns how many checks failed and bounds were
// missed.
func tell(out, progress io.Writer, opts options, h *history.History, findings []history.Finding) (failed int, err error) {
	rounds := measure(h)
	verdicts := judge(rounds, opts.topology, opts.bounds)
	if opts.output == "json" {
		err = printJSON(out, opts, rounds, verdicts, findings)
		out = progress
	} else {
		err = printTable(out, rounds)
	}
	missed, failure := printVerdicts(out, verdicts, opts.judgeAll)
	return history.Report(out, h, findings) + missed, errors.Join(err, failure)
}

// tidy removes the directory of a run, or writes into it what a look at the fault needs.
func tidy(dir string, opts options, h *history.History, findings []history.Finding, progress io.Writer) error {
	violations := history.ViolationsOf(findings)
	if len(violations) == 0 && !opts.keep {
		removeDisks(dir)
		return os.RemoveAll(dir)
	}
	fmt.Fprintf(progress, "kept in %s: the data and the log (*.log) of each process, what the checks found (findings.txt), histories of jobs with a fault (histories.txt), what arrived (deliveries.tsv)\n", dir)
	return errors.Join(history.WriteFindings(filepath.Join(dir, "findings.txt"), h, findings),
		history.WriteHistories(filepath.Join(dir, "histories.txt"), h, violations),
		history.WriteDeliveries(filepath.Join(dir, "deliveries.tsv"), h))
}

// failover makes the run and returns its history. What kept it from going on is in the history too. It never returns
// an error: whatever happens, the history so far is checked.
func failover(ctx context.Context, opts options, dir string, progress io.Writer) *history.History {
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
