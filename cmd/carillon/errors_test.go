package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/snapshot"
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
