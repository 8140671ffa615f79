package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"
)

// console is where a command reads and writes. What a command was asked for goes to out; all that is
// said about it goes to err.
type console struct {
	in       io.Reader
	out, err io.Writer
	screen   screen

	documents int       // of YAML that were printed
	bar       *progress // that stands on the last line of the terminal; nil: none
}

// printf writes to the standard output. A failure to write is met by flush and close at the end.
func (c *console) printf(format string, args ...any) {
	c.clearBar()
	_, _ = fmt.Fprintf(c.out, format, args...)
}

// notef writes a remark.
func (c *console) notef(format string, args ...any) {
	c.clearBar()
	_, _ = fmt.Fprintf(c.err, format, args...)
}

// fail reports why a command failed. One that has already said so is not repeated.
func (c *console) fail(err error) int {
	if !errors.Is(err, errReported) {
		c.notef("carillon: %s\n", explain(err))
	}
	return exitFailed
}

// refuse reports bad usage, with the help that is nearest. Command may be nil.
func (c *console) refuse(command *kong.Context, err error) int {
	c.notef("carillon: %s\n", explain(err))
	if parse := (*kong.ParseError)(nil); errors.As(err, &parse) {
		command = parse.Context
	}
	help := "carillon"
	if command != nil && command.Selected() != nil {
		help = command.Selected().FullPath()
	}
	c.notef("Run '%s --help' for the flags and examples.\n", help)
	return exitUsage
}

// errReported is the error of a command that has told the reasons itself.
var errReported = errors.New("reported")

// usageError is a mistake in how a command was called.
type usageError struct{ text string }

// Error implements error.
func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}
