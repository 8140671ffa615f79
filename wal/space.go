package wal

import (
	"fmt"
	"time"
)

const (
	// spaceCheckBytes is the number of bytes written between two checks of the free space. A check is a
	// system call on the path of an append; a larger number makes it rarer and notices other writers
	// later.
	spaceCheckBytes = 1 << 20
	// spaceCharge is the least that a commit counts, so that small commits are checked about every 256.
	spaceCharge = 4 << 10
	// spaceCheckEvery is how long a check counts. Other programs fill a disk while a quiet log writes little.
	spaceCheckEvery = time.Second
)

// spaceGuard keeps a reserve of free space. It asks the file system once per spaceCheckBytes, and at a commit when spaceCheckEvery
// has passed, so it does not see what other processes write in between; the reserve must be large enough for that. The
// guard exists because a full disk in the middle of a frame poisons the log, while a refusal before the
// write leaves a log that works again as soon as there is room. Log.writing guards it.
type spaceGuard struct {
	disk    disk
	dir     string
	reserve int64 // negative: off
	credit  int64 // bytes that may be written before the next check; at most spaceCheckBytes
	checked time.Time
}

// admit returns ErrNoSpace if writing n bytes would use the reserve.
func (g *spaceGuard) admit(n int) error {
	if g.reserve < 0 {
		return nil
	}
	cost := max(int64(n), spaceCharge)
	now := time.Now()
	if g.credit >= cost && now.Sub(g.checked) < spaceCheckEvery {
		g.credit -= cost
		return nil
	}
	g.credit = 0 // if this commit is refused, the next one checks again
	free, err := g.disk.free(g.dir)
	if err != nil {
		return err
	}
	spare := free - g.reserve - cost
	if spare < 0 {
		return fmt.Errorf("%w: %d bytes are free in %s, %d are reserved", ErrNoSpace, free, g.dir, g.reserve)
	}
	g.credit, g.checked = min(spare, spaceCheckBytes), now
	return nil
}
