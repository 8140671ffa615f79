package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/carillon-io/carillon/terminal"
)

// The exit statuses.
const (
	// Scripts rely on these: 1 says that the command was understood and did not succeed, 2 that it did nothing because
	// it was called wrongly.
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// cli is the grammar of the command line. The order of the fields is that of --help and of the manual page. The tags
// are the only place where names, defaults and variables of flags are written.
type cli struct {
	Color terminal.Colours `help:"When to use colours: ${enum}. Auto is on a terminal, unless NO_COLOR is set or TERM is dumb." enum:"auto,always,never" default:"auto" env:"CARILLON_COLOR" group:"always"`

	Serve    serveCmd    `cmd:"" help:"Run the server: scheduler, log, embedded NATS and HTTP in one process."`
	Worker   workerCmd   `cmd:"" help:"Run the commands of jobs on this machine, in place of cron."`
	Demo     demoCmd     `cmd:"" help:"Demonstrate Carillon: start a temporary server, run jobs, and show how late each run arrives."`
	Job      jobCmd      `cmd:"" help:"Register, show and change jobs."`
	Run      runCmd      `cmd:"" help:"Show, report, cancel and retry runs."`
	Calendar calendarCmd `cmd:"" help:"Manage calendars: named lists of exclusions, such as holidays."`
	Audit    auditCmd    `cmd:"" help:"Show who changed what."`
	Import   importCmd   `cmd:"" help:"Register jobs in bulk from JSON lines, or from crontabs."`
	Export   exportCmd   `cmd:"" help:"Write jobs, or their runs, as JSON lines for import, or as YAML for apply."`
	Apply    applyCmd    `cmd:"" help:"Make the jobs of a set match a file: create, update, and with --prune delete."`
	Diff     diffCmd     `cmd:"" help:"Show what apply would change; exit status 1 if it would."`
	Backup   backupCmd   `cmd:"" help:"Back up a running server into one file."`
	Restore  restoreCmd  `cmd:"" help:"Create a data directory from a backup."`
	Status   statusCmd   `cmd:"" help:"Show the state of the server."`
	Ready    readyCmd    `cmd:"" help:"Ask the server of this machine whether it is ready: the health check of a container."`
	Cluster  clusterCmd  `cmd:"" help:"Turn a single node into a cluster."`
	Shard    shardCmd    `cmd:"" help:"Show the shards of a cluster, and which node leads each; move a lead; divide the data of one."`
	Node     nodeCmd     `cmd:"" help:"Show the nodes of a cluster, and the shards of each."`
	Login    loginCmd    `cmd:"" help:"Check the credentials for a server, save them as a context, and use that from now on."`
	Logout   logoutCmd   `cmd:"" help:"Remove a context with its credentials."`
	Context  contextCmd  `cmd:"" help:"Show the contexts of 'carillon login', and choose one."`
	Whoami   whoamiCmd   `cmd:"" help:"Show who the server takes you for, and which roles you have there."`
	Auth     authCmd     `cmd:"" help:"Manage who may do what: tokens, the file of rights, certificates, permissions of NATS."`
	Handover handoverCmd `cmd:"" help:"Transfer leadership to another node of the cluster."`
	Wal      walCmd      `cmd:"" name:"wal" help:"Check and read a log offline."`
	Bench    benchCmd    `cmd:"" passthrough:"" help:"Measure Carillon on this machine: lateness, herds, registration, recovery."`
	Version  versionCmd  `cmd:"" help:"Show which build this is."`

	Completion completionCmd `cmd:"" help:"Print the script by which a shell completes commands, flags and names."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" passthrough:"" help:"Print completions for a shell."`
	Sink       sinkCmd       `cmd:"" name:"__sink" hidden:"" help:"Read the output of commands whose worker has died."`
}

// It is the head of --help and of the manual page. The examples are those that a newcomer needs in this order.
const description = `Durable job scheduler: cron, intervals and one-shots to NATS, JetStream and HTTP.

  carillon demo                                   see it work, in 15 seconds
  carillon serve                                  run it, data in ./carillon-data
  carillon job put hello --schedule '@every 10s' --target nats:hello --payload '{"n":1}'
  carillon job list                               list the jobs, and when each runs next
  carillon import --crontab /etc/crontab          import a crontab
  carillon --version                              which build it is (-v, or version)
`

// main is run with the arguments and the streams of the process.
func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main with the arguments and streams as parameters. It returns the exit status. It does not end the process,
// so that tests can call it.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	con := &console{in: in, out: out, err: errs, hangups: holdHangups(args)} // before anything that takes time
	defer con.endLog()
	grammar := &cli{}
	parser, err := newParser(grammar, con)
	if err != nil {
		return con.fail(fmt.Errorf("build the command line: %w", err))
	}
	args = asCommand(args)
	if args[0] != "__complete" { // it has a line that is being typed, and runs nothing of it
		if err := refuseSecretsInArgs(allFlags(parser.Model.Node), args); err != nil {
			return con.refuse(nil, err)
		}
	}
	command, err := parser.Parse(args)
	if err == nil {
		err = cmp.Or(refuseEmptyNames(command), refuseTwice(command))
	}
	if err != nil {
		return con.refuse(command, err)
	}
	// Only now is it known whether colours were asked for.
	con.screen = terminal.ScreenOf(con.out, grammar.Color)
	// The command gets the context by its type, as an argument of Run.
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
		return con.fail(inContext(ctx, command.Command(), err))
	}
	return exitDone
}

// inContext adds to the error of a command what its message depends on: that a signal has interrupted the command, or that
// it is a server.
func inContext(ctx context.Context, command string, err error) error {
	switch {
	case command == "serve":
		return &serverError{err}
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted: %w", err)
	}
	return err
}

// asCommand returns the command line for what people type by habit: nothing and help stand for --help, --version and -v
// for the command version.
func asCommand(args []string) []string {
	if len(args) == 0 {
		return []string{"--help"}
	}
	switch args[0] {
	case "help":
		return append(slices.Clone(args[1:]), "--help")
	case "--version", "-v":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// exitError ends the program with a status. The command has reported the reason. It carries a status that is no
// failure to be explained, such as that of diff.
type exitError struct{ status int }

// Error implements error. The text is seen only if the error is printed by mistake.
func (e *exitError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// newParser returns a parser that fills in the grammar. The caller creates one for each parse, because the parser
// writes into the grammar.
func newParser(grammar *cli, con *console) (*kong.Kong, error) {
	options := append(decimalNumbers(),
		kong.Name("carillon"), kong.Description(description),
		kong.Writers(con.out, con.err),
		kong.NamedMapper("path", kong.MapperFunc(setPath)),
		kong.ExplicitGroups([]kong.Group{
			{Key: "when", Title: "When it runs:"},
			{Key: "what", Title: "What it sends, and where to:"},
			{Key: "policies", Title: "What if:"},
			{Key: "server", Title: "Which server:"},
			{Key: "always", Title: "With every command:"},
		}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, NoAppDescFormat: true, WrapUpperBound: 100}),
	)
	return kong.New(grammar, options...)
}

// interruptible returns the context of a command. Ctrl-C ends the context, a second Ctrl-C ends the process; so do SIGTERM,
// and SIGHUP, which comes when the terminal closes, unless the command was started without it, as by nohup. The
// server, the worker and the benchmark harness handle signals themselves, so their context does not end. A cancelled context lets
// a command remove what it has half written; the second signal is for a command that does not return.
func interruptible(command string) (context.Context, context.CancelFunc) {
	if command == "serve" || command == "worker" || strings.HasPrefix(command, "bench") {
		return context.WithCancel(context.Background())
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
