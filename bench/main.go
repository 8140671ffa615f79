package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the grammar of the command line.
type cli struct {
	Binary string `help:"Server to measure." default:"bin/carillon" placeholder:"PATH"`
	Dir    string `help:"Where data directories are made; the system's place for temporary files if left out." type:"path" placeholder:"DIR"`
	JSON   string `name:"json" help:"Write the figures to a file as well." type:"path" placeholder:"FILE"`
	Seed   uint64 `help:"Seed of what is random in a workload." default:"1"`

	Lateness latenessCmd `cmd:"" help:"Fire one-shots and intervals, and measure how late they arrive."`
	Put      putCmd      `cmd:"" help:"Register jobs one by one: one client, then many."`
	Bulk     bulkCmd     `cmd:"" help:"Register jobs in bulk, and measure memory and disk."`
	Recover  recoverCmd  `cmd:"" help:"Kill a loaded server, and measure how soon it is ready again."`
	All      allCmd      `cmd:"" help:"All of these, with their default sizes."`
	Receive  receiveCmd  `cmd:"" hidden:"" help:"Receive runs for another bench process."`
}

// workload is a command that measures.
type workload interface {
	measure(*stand) []*result
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with what it touches as parameters. It returns the exit status: 0 if all went well, 1
// if a workload failed or a promise was broken, 2 if the command line makes no sense.
func run(args []string, out, errs io.Writer) int {
	var c cli
	parser, err := kong.New(&c, kong.Name("bench"), kong.Description("Measures a Carillon server from outside."),
		kong.UsageOnError(), kong.Writers(out, errs))
	if err != nil {
		panic(err) // the grammar is wrong
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(errs, "bench:", err)
		return 2
	}
	switch selected := command.Selected().Target.Addr().Interface().(type) {
	case *receiveCmd:
		return status(errs, selected.run(os.Stdin, out))
	case workload:
		return status(errs, c.bench(selected, out, errs))
	default:
		panic(fmt.Sprintf("bench: %T does nothing", selected))
	}
}

func status(errs io.Writer, err error) int {
	if err != nil {
		fmt.Fprintln(errs, "bench:", err)
		return 1
	}
	return 0
}

// bench measures one workload and reports.
func (c *cli) bench(w workload, out, errs io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	dir, err := os.MkdirTemp(c.Dir, "carillon-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := filepath.Abs(c.Binary)
	if err != nil {
		return err
	}
	m, err := lookAround(binary, dir)
	if err != nil {
		return err
	}
	m.print(out)
	s := &stand{ctx: ctx, binary: binary, dir: dir, seed: c.Seed, out: out, progress: errs}
	results := w.measure(s)
	if c.JSON != "" {
		if err := writeJSON(c.JSON, m, results); err != nil {
			return err
		}
	}
	return verdict(results)
}

// verdict is the error of all that was broken, or cut short.
func verdict(results []*result) error {
	var errs []error
	for _, r := range results {
		if r.Interrupted {
			errs = append(errs, fmt.Errorf("%s: interrupted", r.Name))
		}
		for _, text := range r.Broken {
			errs = append(errs, fmt.Errorf("%s: %s", r.Name, text))
		}
	}
	return errors.Join(errs...)
}

// allCmd measures everything. The server that was loaded in bulk is the one that recovers.
type allCmd struct{}

func (*allCmd) measure(s *stand) []*result {
	var results []*result
	for _, w := range []workload{defaultLateness(), defaultPut(), defaultRecover()} {
		if s.ctx.Err() != nil {
			break
		}
		results = append(results, w.measure(s)...)
	}
	return results
}
