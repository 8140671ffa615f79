package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/carillon-io/carillon/terminal"
	"github.com/carillon-io/carillon/terminal/terminaltest"
	"github.com/carillon-io/carillon/testkit"
)

// asPeopleHave clears the variables that correct a terminal.
func asPeopleHave(t *testing.T) {
	t.Helper()
	for _, name := range []string{"NO_COLOR", "COLUMNS", "LINES"} {
		t.Setenv(name, "")
	}
	t.Setenv("TERM", "xterm")
}

// TestScreenOfTerminal: a terminal has colours and a size; the environment variables win over what it says.
func TestScreenOfTerminal(t *testing.T) {
	asPeopleHave(t)
	term := terminaltest.Open(t, 91, 25)
	full := terminal.Screen{IsTerminal: true, Width: 91, Height: 25, Colour: true}
	for _, c := range []struct {
		name, value string
		want        terminal.Screen
	}{
		{"NO_COLOR", "", full},
		{"NO_COLOR", "1", terminal.Screen{IsTerminal: true, Width: 91, Height: 25}},
		{"TERM", "dumb", terminal.Screen{IsTerminal: true, Width: 91, Height: 25}},
		{"COLUMNS", "40", terminal.Screen{IsTerminal: true, Width: 40, Height: 25, Colour: true}},
		{"LINES", "9", terminal.Screen{IsTerminal: true, Width: 91, Height: 9, Colour: true}},
		{"COLUMNS", "-1", full},
		{"COLUMNS", "wide", full},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			if got := terminal.ScreenOf(term.File, terminal.ColoursAuto); got != c.want {
				t.Errorf("%+v; want %+v", got, c.want)
			}
		})
	}
	if got := terminal.ScreenOf(term.File, terminal.ColoursNever); got.Colour {
		t.Error("colours although there are to be none")
	}
}

// TestDevicesAreNoTerminals: a device that is no terminal is not taken for one.
func TestDevicesAreNoTerminals(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil || terminal.IsTerminal(null) {
		t.Errorf("%v; %s is taken for a terminal", err, os.DevNull)
	}
	_ = null.Close()
}

// TestBarOnTerminal: on a terminal a bar is drawn, in a line that is narrower than the terminal; a dumb one gets lines.
func TestBarOnTerminal(t *testing.T) {
	asPeopleHave(t)
	term := terminaltest.Open(t, 20, 25)
	p := terminal.NewProgress(term.File, "imported", func(n int64) string { return fmt.Sprint(n, " jobs") })
	if !p.Bar {
		t.Fatal("no bar on a terminal")
	}
	deadline := time.AfterFunc(10*time.Second, func() { t.Error("no bar after 10 s") })
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for range ticker.C {
		if p.Of(1, 2); strings.Contains(term.Text(), "[") || t.Failed() {
			break
		}
	}
	deadline.Stop()
	p.Clear()
	term.Until(t, "\r[############.....…\x1b[K\r\x1b[K")
	t.Setenv("TERM", "dumb")
	if p := terminal.NewProgress(term.File, "imported", nil); p.Bar {
		t.Error("a bar on a terminal that cannot move the cursor")
	}
}

// TestReadSecret: a line is read and not shown, and afterwards the terminal shows again what is typed.
func TestReadSecret(t *testing.T) {
	term := terminaltest.Open(t, 80, 25)
	before, err := unix.IoctlGetTermios(int(term.File.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	hidden := func() bool {
		now, err := unix.IoctlGetTermios(int(term.File.Fd()), unix.TCGETS)
		return err == nil && now.Lflag&unix.ECHO == 0
	}
	read := func(ctx context.Context) (string, error) {
		type answer struct {
			text string
			err  error
		}
		got := make(chan answer, 1)
		go func() {
			text, err := terminal.ReadSecret(ctx, term.File, 10)
			got <- answer{text, err}
		}()
		testkit.Until(t, "the terminal hides what is typed", hidden)
		if ctx.Err() == nil {
			term.Type(t, "sesame\n")
		}
		a := <-got
		return a.text, a.err
	}
	if text, err := read(t.Context()); text != "sesame" || err != nil || strings.Contains(term.Text(), "sesame") {
		t.Errorf("%q, %v; the terminal shows %q", text, err, term.Text())
	}
	if now, err := unix.IoctlGetTermios(int(term.File.Fd()), unix.TCGETS); err != nil || *now != *before {
		t.Errorf("the terminal was left with other settings: %v", err)
	}
	term.Type(t, "abcdefghijk\n")
	if _, err := terminal.ReadSecret(t.Context(), term.File, 10); err == nil {
		t.Error("a line that is too long was read")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := terminal.ReadSecret(t.Context(), null, 10); err == nil {
		t.Error("a device that is no terminal was read")
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := terminal.ReadSecret(ctx, term.File, 10); !errors.Is(err, context.Canceled) || hidden() {
		t.Errorf("after Ctrl-C: %v", err)
	}
}
