package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the grammar of the command line.
type cli struct {
	Dir  string `help:"Where data directories are made; the system's place for temporary files if left out." type:"path" placeholder:"DIR"`
	JSON string `name:"json" help:"Write the figures to a file as well." type:"path" placeholder:"FILE"`

	Rivals  rivalsCmd  `cmd:"" help:"Carillon beside NATS message schedules, River and asynq: the same jobs, one after the other."`
	Wheel   wheelCmd   `cmd:"" help:"The timing wheel beside other structures of timers, in memory."`
	Bare    bareCmd    `cmd:"" hidden:"" help:"Run the bare program, for another process of this program."`
	Receive receiveCmd `cmd:"" hidden:"" help:"Receive what fires, for another process of this program."`
	NATS    natsCmd    `cmd:"" name:"nats" hidden:"" help:"Run an embedded NATS server, for another process of this program."`
}

func main() {
	os.Exit(run(os.Args[1:]))
}

// run returns the exit status: 0 if all went well, 1 if a measurement failed or a promise was broken, 2
// if the command line makes no sense.
func run(arguments []string) int {
	var c cli
	parser := kong.Must(&c, kong.Name("rivals"), kong.Description("Measures Carillon beside what people would use instead."))
	command, err := parser.Parse(arguments)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rivals:", err)
		return 2
	}
	if err := c.run(command); err != nil {
		fmt.Fprintln(os.Stderr, "rivals:", err)
		return 1
	}
	return 0
}

// run does what the command line says. The hidden commands belong to another process, which decides
// about their end: they have no report and do not hear Ctrl-C.
func (c *cli) run(command *kong.Context) error {
	switch hidden := command.Selected().Target.Addr().Interface().(type) {
	case *receiveCmd:
		signal.Ignore(os.Interrupt)
		return hidden.run(os.Stdin, os.Stdout)
	case *bareCmd:
		signal.Ignore(os.Interrupt)
		return hidden.run(os.Stdin, os.Stdout)
	case *natsCmd:
		signal.Ignore(os.Interrupt)
		return hidden.run(os.Stdin, os.Stdout)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp(c.Dir, "carillon-rivals-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &report{ctx: ctx, dir: dir, out: os.Stdout, progress: os.Stderr}
	if r.machine, err = lookAround(dir); err != nil {
		return err
	}
	r.machine.print(r.out)
	err = command.Run(r)
	if c.JSON != "" {
		err = errors.Join(err, r.write(c.JSON))
	}
	return errors.Join(err, r.verdict())
}
