package main

import (
	"io"

	"github.com/carillon-io/carillon/terminal"
)

// newProgress begins to show a number of things, such as "run", to which something is done, such as "retried". It goes to
// the standard error.
func (c *console) newProgress(noun, done string) *terminal.Progress {
	return c.startProgress(done, func(n int64) string { return showCount(int(n)) + " " + nounFor(n, noun) })
}

// newByteProgress begins to show a number of bytes to which something is done, such as "fetched".
func (c *console) newByteProgress(done string) *terminal.Progress {
	return c.startProgress(done, formatBytes)
}

// There is one bar at a time: a new one replaces the last. startProgress begins to show what show makes of a
// number.
func (c *console) startProgress(done string, show func(int64) string) *terminal.Progress {
	c.clearBar()
	c.bar = terminal.NewProgress(c.err, done, show)
	return c.bar
}

// newStreamProgress is newProgress for what a command also writes to the standard output: it is silent if that is a
// terminal, where the stream shows how far it is.
func (c *console) newStreamProgress(noun, done string) *terminal.Progress {
	p := c.newProgress(noun, done)
	p.Silent = c.screen.IsTerminal
	return p
}

// clearBar removes the bar from the last line of the terminal, if there is one, so that other text can stand there.
// Everything that writes to the terminal calls it first.
func (c *console) clearBar() {
	if c.bar != nil {
		c.bar.Clear()
	}
}

// measured returns a reader that shows how many bytes were read from r, to which something is done, such as "verified".
func (c *console) measured(r io.Reader, done string) io.Reader {
	return c.newByteProgress(done).Reader(r)
}
