package terminal

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestUnblockedDrops writes to a pipe that nobody reads, and reads it later: nothing waited, what had no room is counted, and a line
// says so.
func TestUnblockedDrops(t *testing.T) {
	r, w := io.Pipe()
	u := NewUnblocked(w)
	u.OnDropped(func(lines uint64) { _, _ = fmt.Fprintf(u, "dropped %d\n", lines) })
	line := strings.Repeat("x", 999) + "\n"
	const lines = 3000
	for range lines {
		if n, err := io.WriteString(u, line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	dropped := u.Dropped()
	if least := uint64(lines - 2*unblockedBytesMax/len(line)); dropped < least || dropped >= lines {
		t.Errorf("%d of %d lines were dropped, want at least %d", dropped, lines, least)
	}
	read := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(r)
		read <- all
	}()
	u.Close(time.Minute)
	_ = w.Close()
	if got := bytes.Count(<-read, []byte("\n")); got != lines-int(dropped) && got != lines-int(dropped)+1 {
		t.Errorf("%d lines came of %d, and %d were dropped", got, lines, dropped)
	}
}

// TestUnblockedTells reads a pipe on: the number of lines that were dropped comes with the next ones.
func TestUnblockedTells(t *testing.T) {
	r, w := io.Pipe()
	u := NewUnblocked(w)
	told := make(chan uint64, 1)
	u.OnDropped(func(lines uint64) { told <- lines })
	for range 3 {
		_, _ = u.Write(make([]byte, unblockedBytesMax))
	}
	dropped := u.Dropped()
	if dropped == 0 {
		t.Fatal("nothing was dropped")
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if lines := <-told; lines != dropped || u.Dropped() != 0 {
		t.Errorf("%d lines were told, %d dropped, %d are left", lines, dropped, u.Dropped())
	}
	u.Close(time.Minute)
}

// TestUnblockedCloses ends while its reader stands still, and after its reader has all.
func TestUnblockedCloses(t *testing.T) {
	_, w := io.Pipe()
	stuck := NewUnblocked(w)
	_, _ = io.WriteString(stuck, "nobody reads this\n")
	stuck.Close(time.Millisecond)
	var b bytes.Buffer
	u := NewUnblocked(&b)
	_, _ = io.WriteString(u, "the last line\n")
	u.Close(time.Minute)
	_, _ = io.WriteString(u, "too late\n")
	if b.String() != "the last line\n" {
		t.Errorf("%q was written", b.String())
	}
}

// TestUnblockedKeepsTheCount reads a pipe on for a moment while there is no room for the line that tells how many were dropped: the line
// comes later, with the whole number.
func TestUnblockedKeepsTheCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		u := NewUnblocked(w)
		u.OnDropped(func(lines uint64) { _, _ = fmt.Fprintf(u, "dropped %d\n", lines) })
		for range 5 { // one is being written, one waits, and three are dropped
			_, _ = u.Write(make([]byte, unblockedBytesMax))
			synctest.Wait()
		}
		_, _ = io.ReadFull(r, make([]byte, unblockedBytesMax))
		synctest.Wait()
		read := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(r)
			read <- all
		}()
		synctest.Wait()
		u.Close(time.Minute)
		_ = w.Close()
		if text := strings.Trim(string(<-read), "\x00"); text != "dropped 3\n" {
			t.Errorf("the pipe had %q", text)
		}
	})
}
