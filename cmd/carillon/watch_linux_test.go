package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/terminal"
	"github.com/carillon-io/carillon/terminal/terminaltest"
)

// TestWatchOnTerminal runs the command on a terminal: it draws in place on a screen of its own, and Ctrl-C leaves the
// terminal as it was, with the last state on it, and with status 0.
func TestWatchOnTerminal(t *testing.T) {
	server, term := startServer(t, ""), terminaltest.Open(t, 60, 8)
	cmd := exec.Command("carillon", "status", "--watch=200ms", "--server", server)
	cmd.Stdout, cmd.Stderr = term.File, term.File
	cmd.Env = append(os.Environ(), "TERM=xterm", "COLUMNS=", "LINES=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	term.Until(t, terminal.Enter)
	term.Until(t, "more lines; ")
	term.Until(t, "Ctrl-C ends")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	term.Until(t, terminal.Leave)
	term.Until(t, "lateness") // a line that the screen has no room for
	_, after, _ := strings.Cut(term.Text(), terminal.Leave)
	if !strings.Contains(after, "leader") || !strings.Contains(after, "lateness") {
		t.Errorf("after it the terminal has %q", after)
	}
}
