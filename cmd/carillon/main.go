package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// The exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// cli is the grammar of the command line.
type cli struct {
	Color colourChoice `help:"When to use colours: ${enum}. Auto is on a terminal, unless NO_COLOR is set or TERM is dumb." enum:"auto,always,never" default:"auto" env:"CARILLON_COLOR" group:"always"`

	Serve    serveCmd    `cmd:"" help:"Run the server: scheduler, log, embedded NATS and HTTP in one process."`
	Demo     demoCmd     `cmd:"" help:"See it work: a server of its own, live jobs, and each firing with its lateness."`
	Job      jobCmd      `cmd:"" help:"Register, look at and change jobs."`
	Run      runCmd      `cmd:"" help:"Look at runs, report them, cancel and retry them."`
	Calendar calendarCmd `cmd:"" help:"Name what jobs leave out, such as holidays."`
	Audit    auditCmd    `cmd:"" help:"Tell who changed what."`
	Import   importCmd   `cmd:"" help:"Register jobs in bulk from JSON lines, or from crontabs."`
	Export   exportCmd   `cmd:"" help:"Write jobs, or their runs, as JSON lines that import takes, or as YAML that apply takes."`
	Apply    applyCmd    `cmd:"" help:"Make the jobs those of a file: create, update, and with --prune delete."`
	Diff     diffCmd     `cmd:"" help:"Show what apply would change; exit status 1 if it would."`
	Backup   backupCmd   `cmd:"" help:"Back up a server that runs, into one file."`
	Restore  restoreCmd  `cmd:"" help:"Make a data directory of a backup."`
	Status   statusCmd   `cmd:"" help:"Tell how the server is doing."`
	Handover handoverCmd `cmd:"" help:"Let another node of the cluster lead."`
	Wal      walCmd      `cmd:"" name:"wal" help:"Check and read a log offline."`
	Bench    benchCmd    `cmd:"" passthrough:"" help:"Measure it on this machine: lateness, herds, registration, recovery."`
	Version  versionCmd  `cmd:"" help:"Tell which build this is."`

	Completion completionCmd `cmd:"" help:"Print what makes a shell complete commands, flags and names."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" passthrough:"" help:"Tell a shell what fits."`
}

const description = `Durable job scheduler: cron, intervals and one-shots to NATS, JetStream and HTTP.

  carillon demo                                   see it work, in 15 seconds
  carillon serve                                  run it, data in ./carillon-data
  carillon job put hello --schedule '@every 10s' --target nats:hello --payload '{"n":1}'
  carillon job list                               what is registered, and when it runs next
  carillon import --crontab /etc/crontab          take a crontab over
`

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main with everything that it touches as a parameter.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	con := &console{in: in, out: out, err: errs}
	grammar := &cli{}
	parser, err := newParser(grammar, con)
	if err != nil {
		return con.fail(fmt.Errorf("build the command line: %w", err))
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if err != nil {
		return con.refuse(nil, err)
	}
	con.setScreen(grammar.Color)
	ctx, stop := interruptible(command.Command())
	defer stop()
	command.BindTo(ctx, (*context.Context)(nil))
	err = command.Run(con)
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		return con.refuse(command, err)
	}
	if exit := (*exitError)(nil); errors.As(err, &exit) {
		return exit.status
	}
	if err != nil {
		return con.fail(err)
	}
	return exitDone
}

// exitError ends the program with a status; what is wrong has been told.
type exitError struct{ status int }

func (e *exitError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

func newParser(grammar *cli, con *console) (*kong.Kong, error) {
	return kong.New(grammar,
		kong.Name("carillon"), kong.Description(description),
		kong.Writers(con.out, con.err),
		kong.ExplicitGroups([]kong.Group{
			{Key: "when", Title: "When it runs:"},
			{Key: "what", Title: "What it sends, and where to:"},
			{Key: "policies", Title: "What if:"},
			{Key: "server", Title: "Which server:"},
			{Key: "always", Title: "With every command:"},
		}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, NoAppDescFormat: true, WrapUpperBound: 100}),
	)
}

// interruptible returns the context of a command, which Ctrl-C ends; a second Ctrl-C ends the process.
// The server and the harness are left out: they end in an order of their own.
func interruptible(command string) (context.Context, context.CancelFunc) {
	if command == "serve" || strings.HasPrefix(command, "bench") {
		return context.WithCancel(context.Background())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
