package job

import (
	"errors"
	"fmt"
)

// RowsVersion is the newest version of rows that this build reads and writes. Versions count over all kinds of row: a
// kind that gets more members takes the next number, whatever its own last one was. So one number describes what a
// store contains, and what a node can read.
const RowsVersion = rowVersion9

// RowsVersionUnmarked is the newest version of rows in a store without a recorded version, and the version that a
// node reads if it does not name one. A store records a version only once it is above this one.
const RowsVersionUnmarked = rowVersion3

// RowsVersionOfSlots is the version of the rows of a store whose newer ids carry slots. A node that does not read it
// would give out ids without slots.
const RowsVersionOfSlots = rowVersion5

// RowsVersionOfClaims is the version of entries of the audit log that have [Actor].Claimed.
const RowsVersionOfClaims = rowVersion6

// RowsVersionOfDismissals is the version of runs that have a [Dismissal].
const RowsVersionOfDismissals = rowVersion8

// RowsVersionOfDeleted is the version of the rows that keep the definitions of deleted jobs.
const RowsVersionOfDeleted = rowVersion9

// ErrNewerRows is wrapped by errors about rows of a newer release. None of these rows was applied.
var ErrNewerRows = errors.New("job: rows of a newer release")

// CheckRows returns an error that wraps [ErrNewerRows] if an encoded batch puts a row of a version that this build
// cannot read, or has a kind of row or an operation that it does not know. It leaves malformed batches to [Changes]. It is called before anything of the batch is applied,
// because a store with half a commit could not be used by either release.
func CheckRows(batch []byte) error {
	newest := byte(0)
	err := Changes(batch, func(c Change) error {
		if c.Op == OpPut && len(c.Value) > 0 {
			newest = max(newest, c.Value[0])
		}
		return nil
	})
	if errors.Is(err, ErrNewerRows) {
		return err
	}
	return CheckRowsVersion(uint64(newest))
}

// CheckRowsVersion returns an error that wraps [ErrNewerRows] if this build cannot read rows of a version.
func CheckRowsVersion(version uint64) error {
	if version <= RowsVersion {
		return nil
	}
	return fmt.Errorf("%w: they have version %d, and this build reads up to %d; run the release that wrote them, or a later one", ErrNewerRows, version, RowsVersion)
}

// RowsVersionOf returns the version of the row that holds a definition, and the field that needs this version, or ""
// if every definition does. All nodes of a cluster must be able to read the version before a leader may write it.
func RowsVersionOf(d *Definition) (version byte, field string) {
	if field := d.secretField(); field != "" {
		return rowVersion6, field
	}
	if d.Target.MaxInFlight != 0 {
		return rowVersion4, "target.max_in_flight"
	}
	return rowVersion2, ""
}

// RowsVersion returns the newest version of the rows that the batch puts; 0 if it puts none. The engine records it in
// the same commit, so that an older release refuses the store before it reads a row that it would misread.
func (b *Batch) RowsVersion() byte { return b.rows }
