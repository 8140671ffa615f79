package main

import (
	"os"

	"github.com/carillon-io/carillon/bench"
)

// benchCmd passes its arguments to the benchmark harness, which starts servers from this binary and measures them. The
// harness has a grammar of its own, because it is also the receiving process of its workloads and is tested without
// this program.
type benchCmd struct {
	Args []string `arg:"" optional:"" passthrough:"" help:"Workload and flags; --help lists them."`
}

// Help is what the manual page says besides the flags; `carillon bench --help` prints the help of the harness.
func (*benchCmd) Help() string {
	return `Each workload has flags and a help text of its own.

Examples:

  carillon bench --help
  carillon bench jitter --help`
}

// Run implements the command.
func (c *benchCmd) Run(con *console) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := c.Args
	if len(args) == 0 {
		args = []string{"--help"}
	}
	program := bench.Program{Binary: self, Self: self, Args: []string{"bench"}}
	if status := bench.Main(program, args, con.in, con.out, con.err); status != exitDone {
		return &exitError{status}
	}
	return nil
}
