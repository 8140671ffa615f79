package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
	"github.com/carillon-io/carillon/worker"
)

// TestDamageOfAStoreIsExplained: the message names the file and says what to do. That nothing was changed is said only of a store
// that was not opened.
func TestDamageOfAStoreIsExplained(t *testing.T) {
	for _, opened := range []bool{false, true} {
		damage := &snapshot.DamageError{Opened: opened, Dir: "/d/shards/2/store", File: "000006.sst", Reason: "it is damaged", Err: errors.New("checksum mismatch")}
		text := explain(fmt.Errorf("start: shard 2: load rows of kind 5: %w; close: %w", damage, snapshot.ErrFailed))
		for part, want := range map[string]bool{
			"the store is damaged: /d/shards/2/store/000006.sst: it is damaged (checksum mismatch)": true,
			"restore a backup":    true,
			"an empty directory":  opened,
			"nothing was changed": !opened,
		} {
			if strings.Contains(text, part) != want {
				t.Errorf("opened: %v: %q has %q: %v; want %v", opened, text, part, !want, want)
			}
		}
	}
}

// TestUnusableStateIsExplained: a state directory that the system refuses is about --state, which a worker has, and not about
// the flags of a server.
func TestUnusableStateIsExplained(t *testing.T) {
	for _, cause := range []error{syscall.EROFS, syscall.ENOTDIR, syscall.ENOSPC, syscall.EACCES} {
		refused := &fs.PathError{Op: "mkdir", Path: "/w/state", Err: cause}
		text := explain(fmt.Errorf("worker: %w", &worker.StateError{Dir: "/w/state", Err: refused}))
		if !strings.Contains(text, "with --state") || strings.Contains(text, "--data") || strings.Contains(text, "data directory") {
			t.Errorf("%v: %q", cause, text)
		}
		if text := explain(refused); strings.Contains(text, "--data") {
			t.Errorf("a file of another command: %q", text)
		}
	}
}

// TestFullDiskIsExplained: the data directory is spoken of where a server or its log is full. Another command writes elsewhere.
func TestFullDiskIsExplained(t *testing.T) {
	full := fmt.Errorf("write x: %w", syscall.ENOSPC)
	for name, tc := range map[string]struct {
		err   error
		atAll bool
	}{
		"the output of a command": {inContext(t.Context(), "export", full), false},
		"its quota":               {inContext(t.Context(), "backup take", syscall.EDQUOT), false},
		"a server":                {inContext(t.Context(), "serve", full), true},
		"the quota of a server":   {inContext(t.Context(), "serve", syscall.EDQUOT), true},
		"a log":                   {fmt.Errorf("append: %w", wal.ErrNoSpace), true},
	} {
		if text := explain(tc.err); strings.Contains(text, "data directory") != tc.atAll || !strings.Contains(text, "free space") {
			t.Errorf("%s: %q; want the data directory in it: %v", name, text, tc.atAll)
		}
	}
}

// TestInterruptedIsSaid: of a command that a signal ends the message says so, and not that nothing answers.
func TestInterruptedIsSaid(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cause := fmt.Errorf("back up: %w", context.Canceled)
	if text := explain(inContext(ctx, "backup take", cause)); strings.Contains(text, "interrupted") {
		t.Errorf("without a signal: %q", text)
	}
	cancel()
	if text := explain(inContext(ctx, "backup take", cause)); !strings.HasPrefix(text, "interrupted: back up: ") {
		t.Errorf("after a signal: %q", text)
	}
}
