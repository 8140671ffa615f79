package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the grammar of the command line. Every workload is a field here, and its flags are the fields of its type:
// a new one needs no other registration.
type cli struct {
	Binary string `help:"Server to measure; this program if left out." type:"path" placeholder:"PATH"`
	Dir    string `help:"Where data directories are made; the system's place for temporary files if left out." type:"path" placeholder:"DIR"`
	JSON   string `name:"json" help:"Write the figures to a file as well." type:"path" placeholder:"FILE"`
	Seed   uint64 `help:"Seed of what is random in a workload." default:"1"`

	Jitter   jitterCmd   `cmd:"" help:"Fire jobs at a rate, and measure how late they arrive."`
	Herd     herdCmd     `cmd:"" help:"Let many jobs be due in one millisecond, beside those of another tenant."`
	Saturate saturateCmd `cmd:"" help:"Raise the rate until jobs arrive late."`
	Scale    scaleCmd    `cmd:"" help:"Measure jitter with more and more jobs armed, and draw it."`
	Proof    proofCmd    `cmd:"" help:"Load ten million jobs, and measure jitter, herds and recovery with them."`
	Put      putCmd      `cmd:"" help:"Register jobs one by one: one client, then many."`
	Load     loadCmd     `cmd:"" help:"Register jobs in bulk, and measure memory and disk."`
	Recover  recoverCmd  `cmd:"" help:"Kill a loaded server, and measure how soon it is ready again."`
	Outage   outageCmd   `cmd:"" help:"Keep a server down while many jobs are due, and measure others while it catches up."`
	Flood    floodCmd    `cmd:"" help:"Let one tenant flood the server with noise, and measure another before and during it."`
	Rights   rightsCmd   `cmd:"" help:"Measure what rights cost: registrations at an open server and at one with rights, in turns."`
	Cluster  clusterCmd  `cmd:"" help:"Measure what replication costs: a cluster of two nodes and a witness beside a server alone."`
	Shards   shardsCmd   `cmd:"" help:"Measure what several shards cost: a cluster with one shard beside one with several."`
	Grow     growCmd     `cmd:"" help:"Measure what it costs a cluster of several shards that a node joins, and that it drains."`
	Takeover takeoverCmd `cmd:"" help:"Load many jobs into several shards, and kill a node: memory, time to take over, and what is lost."`
	Runs     runsCmd     `cmd:"" help:"Measure the processor time of a run with one shard and with several, in turns."`
	Handover handoverCmd `cmd:"" help:"Measure a steady load while one shard after the other is handed over."`
	All      allCmd      `cmd:"" help:"The main ones of these, with small sizes: two minutes."`
	Receive  receiveCmd  `cmd:"" hidden:"" help:"Receive runs for another bench process."`
	Noise    noiseCmd    `cmd:"" hidden:"" help:"Send noise for another bench process."`
	Bare     bareCmd     `cmd:"" hidden:"" help:"Sleep and publish for another bench process."`
	BareScan bareScanCmd `cmd:"" hidden:"" help:"Scan a store for another bench process."`
}

// Program says how this harness is started: by which executable, and with which arguments.
type Program struct {
	Binary string   // the server to measure unless the command line names another
	Self   string   // the executable that contains the harness
	Args   []string // arguments with which Self calls Main
}

// workload is a command that measures something and returns its results. It returns a result for everything that it
// began, also after an error, which it records as broken. It is called once, and may start and end several servers.
type workload interface {
	measure(*stand) []*result
}

// Main runs the harness. It returns the exit status: 0 for success, 1 if a workload failed or a promise was broken, 2
// for an invalid command line. It panics only if the grammar itself is wrong. It may be called from another program,
// with that program's arguments.
func Main(p Program, args []string, in io.Reader, out, errs io.Writer) int {
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
		return status(errs, selected.run(in, out))
	case *noiseCmd:
		return status(errs, selected.run(out))
	case *bareCmd:
		return status(errs, selected.run())
	case *bareScanCmd:
		return status(errs, selected.run(out))
	case workload:
		return status(errs, c.bench(p, selected, out, errs))
	default:
		panic(fmt.Sprintf("bench: %T does nothing", selected))
	}
}

// status returns the exit status for an error, and prints the error.
func status(errs io.Writer, err error) int {
	if err != nil {
		fmt.Fprintln(errs, "bench:", err)
		return 1
	}
	return 0
}

// bench runs one workload and reports its results. The data directories are below one temporary directory, which is
// removed at the end whatever happens. The figures of a run that was interrupted are written too, marked as
// partial.
func (c *cli) bench(p Program, w workload, out, errs io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // after the first Ctrl-C, a second one ends the program at once
	dir, err := os.MkdirTemp(c.Dir, "carillon-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := c.Binary
	if binary == "" {
		binary = p.Binary
	}
	// The machine is measured before the workload loads it.
	m, err := lookAround(binary, dir)
	if err != nil {
		return err
	}
	m.print(out)
	s := &stand{ctx: ctx, program: p, binary: binary, dir: dir, seed: c.Seed, out: out, progress: errs}
	results := w.measure(s)
	// The file is written also if promises were broken: it says which.
	if c.JSON != "" {
		if err := writeJSON(c.JSON, m, results); err != nil {
			return err
		}
	}
	return verdict(results)
}

// verdict returns an error if a result has a broken promise or was interrupted; nil otherwise.
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

// allCmd runs the main workloads with small sizes. The recovery is that of the server of the bulk load. It is for a
// first look; the published figures come from the workloads by themselves, with larger sizes.
type allCmd struct{}

func (*allCmd) measure(s *stand) []*result {
	var results []*result
	for _, w := range []workload{defaultJitter(), defaultHerd(), defaultPut(), defaultRecover()} {
		if s.ctx.Err() != nil {
			break
		}
		results = append(results, w.measure(s)...)
	}
	return results
}
