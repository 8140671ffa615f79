package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/carillon-io/carillon/terminal"
)

// console is where a command reads and writes: its result goes to out, remarks, progress and errors go to err. A
// command has one console and uses it from one goroutine, apart from the start of a server, which guards it by its own
// lock (recovery). Tests give it buffers.
type console struct {
	// in is read where an argument is -, and not otherwise.
	in       io.Reader
	out, err io.Writer
	// screen says whether out is a terminal, how wide it is and whether it has colours. Before the command line is
	// parsed it is the zero value: no terminal.
	screen terminal.Screen // of out

	hangups <-chan os.Signal    // of a server; see holdHangups
	log     *terminal.Unblocked // of a server or worker; see unblock

	// decides whether the next one needs a separator
	documents int                // YAML documents that were printed
	bar       *terminal.Progress // latest one, whose bar may be on the last line of the terminal; nil: there was none
}

// printf writes to out. Failures to write are ignored. A closed pipe, as of `| head`, is not worth an error; a result
// that must be complete is written through [output], which keeps the first error. It removes the bar first, so that
// bar and text never share a line.
func (c *console) printf(format string, args ...any) {
	c.clearBar()
	_, _ = fmt.Fprintf(c.out, format, printable(args)...)
}

// notef writes a remark to err.
func (c *console) notef(format string, args ...any) {
	c.clearBar()
	_, _ = fmt.Fprintf(c.err, format, printable(args)...)
}

// markup is text that a command means as it is: with line breaks, or with escape sequences for the terminal. Any other
// text among the arguments of a print may come from another user, a server or a file, and control characters in it could
// change what the screen shows.
type markup string

// printable returns arguments of a print with the control characters of texts and errors made visible. Bytes are not
// changed: they are documents, whose form escapes them.
func printable(args []any) []any {
	clean := make([]any, len(args))
	for i, arg := range args {
		switch v := reflect.ValueOf(arg); {
		case arg == nil:
		case v.Type() == reflect.TypeFor[markup]():
			clean[i] = arg
		case v.Kind() == reflect.String:
			clean[i] = terminal.Printable(v.String())
		default:
			clean[i] = arg
			if err, ok := arg.(error); ok {
				clean[i] = terminal.Printable(err.Error())
			}
		}
	}
	return clean
}

// fail reports why a command failed, unless the command has done so (errReported), and returns the exit status. Only
// run calls it, so that a failure has one line and one place.
func (c *console) fail(err error) int {
	if !errors.Is(err, errReported) {
		c.notef("carillon: %s\n", explain(err))
	}
	return exitFailed
}

// refuse reports bad usage and names the help of the command, and returns the exit status. Command is nil if the parser
// found none.
func (c *console) refuse(command *kong.Context, err error) int {
	if parse := (*kong.ParseError)(nil); errors.As(err, &parse) {
		command = parse.Context
	}
	verbs := ""
	if strings.HasPrefix(err.Error(), "expected ") { // and nothing came; a misspelt command is an unexpected argument
		verbs = verbsOf(command)
	}
	if verbs != "" {
		err = usagef("want one of these commands")
	}
	c.notef("carillon: %s\n", explain(err))
	help := "carillon"
	if command != nil && command.Selected() != nil {
		help = command.Selected().FullPath()
	}
	if verbs != "" {
		c.notef("\n%s\n", markup(verbs))
	}
	c.notef("Run '%s --help' for the flags and examples.\n", help)
	return exitUsage
}

// verbsOf returns a line for each command of the group that the command line ends with, or "" if it ends with no group.
func verbsOf(command *kong.Context) string {
	if command == nil || command.Selected() == nil {
		return ""
	}
	var verbs strings.Builder
	for _, verb := range command.Selected().Children {
		if !verb.Hidden {
			fmt.Fprintf(&verbs, "  %-10s %s\n", verb.Name, verb.Help)
		}
	}
	return verbs.String()
}

// errReported is the error of a command that has reported its reasons itself. It keeps the exit status without a
// second message.
var errReported = errors.New("reported")

// usageError is a mistake in how a command was called. Kong's own errors are treated in the same way; see refuse.
type usageError struct {
	text  string
	cause error // for [errors.Is]; nil: none
}

// Error implements error.
func (e *usageError) Error() string { return e.text }

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.cause }

// usagef returns a usageError. A command that returns it ends with exit status 2 and a hint at --help.
func usagef(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &usageError{err.Error(), errors.Unwrap(err)}
}
