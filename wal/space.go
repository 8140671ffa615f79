package wal

import "fmt"

const (
	// spaceCheckBytes is how much is written between two looks at the free space.
	spaceCheckBytes = 1 << 20
	// spaceCharge is what a commit counts at least, so that small ones are checked every 256 or so.
	spaceCharge = 4 << 10
)

// spaceGuard keeps a reserve of free space. It is only as good as its neighbours: what others write
// between two looks is not seen, which the reserve must cover.
type spaceGuard struct {
	disk    disk
	dir     string
	reserve int64 // negative: off
	credit  int64 // may be written before the next look
}

// admit refuses to write n bytes into the reserve.
func (g *spaceGuard) admit(n int) error {
	if g.reserve < 0 {
		return nil
	}
	cost := max(int64(n), spaceCharge)
	if g.credit >= cost {
		g.credit -= cost
		return nil
	}
	g.credit = 0 // look again at the next commit if this one is refused
	free, err := g.disk.free(g.dir)
	if err != nil {
		return err
	}
	spare := free - g.reserve - cost
	if spare < 0 {
		return fmt.Errorf("%w: %d bytes are free in %s, %d are reserved", ErrNoSpace, free, g.dir, g.reserve)
	}
	g.credit = min(spare, spaceCheckBytes)
	return nil
}
