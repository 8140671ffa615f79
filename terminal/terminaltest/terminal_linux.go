package terminaltest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds how long Until waits.
const patience = 20 * time.Second

// Terminal is a pseudo-terminal, which keeps all that is written to it. Safe for concurrent use.
type Terminal struct {
	// File is the terminal as a program has it. It is closed when the test ends.
	File    *os.File
	outside *os.File // where a person types

	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed by the next write
}

// Open opens a terminal of a size in character cells. It skips the test where the system has no pseudo-terminals.
func Open(t testing.TB, width, height uint16) *Terminal {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	// Its number names the inner end, which must be unlocked before it can be opened.
	fd := int(outside.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = errors.Join(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}))
	}
	if err != nil {
		t.Fatal(err)
	}
	// O_NOCTTY, so that it does not become the terminal that controls the test, whose signals it would then send.
	inside, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &Terminal{File: inside, outside: outside, changed: make(chan struct{})}
	t.Cleanup(func() { _, _ = inside.Close(), outside.Close() })
	// It ends with an error when the terminal is closed, as a terminal whose other end is gone has nothing to read.
	go func() { _, _ = io.Copy((*recorder)(term), outside) }()
	return term
}

// Type types a text, as a person does.
func (term *Terminal) Type(t testing.TB, text string) {
	t.Helper()
	if _, err := term.outside.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// Text returns what was written to the terminal. Its line breaks are CR LF.
func (term *Terminal) Text() string {
	text, _ := term.seen()
	return text
}

// Until waits until a text was written to the terminal, and fails the test if that takes longer than 20 s.
func (term *Terminal) Until(t testing.TB, want string) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		text, changed := term.seen()
		if strings.Contains(text, want) {
			return
		}
		select {
		// The channel was taken together with the text, so no write in between is missed.
		case <-changed:
		case <-deadline.C:
			t.Fatalf("no %q after %s; the terminal has\n%q", want, patience, text)
		}
	}
}

// seen returns what was written, and a channel that is closed when there is more.
func (term *Terminal) seen() (string, <-chan struct{}) {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.text.String(), term.changed
}

// recorder takes what comes out of a terminal.
type recorder Terminal

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Everything that waits looks again; the next wait is for the next channel.
	close(r.changed)
	r.changed = make(chan struct{})
	return r.text.Write(p)
}
