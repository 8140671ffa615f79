package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a terminal of so many columns and rows, and what was written to it.
type terminal struct {
	inside *os.File // what a program has
	mu     sync.Mutex
	seen   bytes.Buffer
}

func openTerminal(t *testing.T, width, height uint16) *terminal {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	fd := int(outside.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = errors.Join(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}))
	}
	if err != nil {
		t.Fatal(err)
	}
	inside, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{inside: inside}
	t.Cleanup(func() { _, _ = inside.Close(), outside.Close() })
	go func() { _, _ = io.Copy(term, outside) }()
	return term
}

// Write implements io.Writer for what comes out of the terminal.
func (term *terminal) Write(p []byte) (int, error) {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.seen.Write(p)
}

func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.seen.String()
}

// until waits for a text to be written.
func (term *terminal) until(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(term.text(), want); {
		if time.Now().After(deadline) {
			t.Fatalf("no %q after %s; the terminal has\n%q", want, patience, term.text())
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
}

// TestTerminal: on a terminal there are colours and its width counts; the variables win over what it says.
func TestTerminal(t *testing.T) {
	for _, name := range []string{"NO_COLOR", "COLUMNS", "LINES"} {
		t.Setenv(name, "")
	}
	t.Setenv("TERM", "xterm")
	term := openTerminal(t, 91, 25)
	con := &console{out: term.inside}
	con.setScreen(colourAuto)
	if want := (screen{isTerminal: true, width: 91, height: 25, colour: true}); con.screen != want {
		t.Errorf("%+v; want %+v", con.screen, want)
	}
	t.Setenv("COLUMNS", "40")
	t.Setenv("TERM", "dumb")
	con.setScreen(colourAuto)
	if want := (screen{isTerminal: true, width: 40, height: 25}); con.screen != want {
		t.Errorf("%+v; want %+v", con.screen, want)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil || isTerminal(null) {
		t.Errorf("%v; %s is taken for a terminal", err, os.DevNull)
	}
	_ = null.Close()
}

// TestWatchOnTerminal runs the command on a terminal: it draws in place on a screen of its own, and Ctrl-C
// leaves the terminal as it was, with the last state on it, and with status 0.
func TestWatchOnTerminal(t *testing.T) {
	server, term := startServer(t, ""), openTerminal(t, 60, 8)
	cmd := exec.Command("carillon", "status", "--watch=200ms", "--server", server)
	cmd.Stdout, cmd.Stderr = term.inside, term.inside
	cmd.Env = append(os.Environ(), "TERM=xterm", "COLUMNS=", "LINES=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	term.until(t, screenOpen)
	term.until(t, "more lines; ")
	term.until(t, "Ctrl-C ends")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	term.until(t, screenClose)
	_, after, _ := strings.Cut(term.text(), screenClose)
	if !strings.Contains(after, "leader") || !strings.Contains(after, "lateness") {
		t.Errorf("after it the terminal has %q", after)
	}
}
