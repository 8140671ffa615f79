package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/wal"
)

// walCmd groups the commands that read a log offline.
type walCmd struct {
	Verify walVerifyCmd `cmd:"" help:"Read a whole log and check that it is intact."`
	Dump   walDumpCmd   `cmd:"" help:"Print the commits of a log, row by row."`
	Relist walRelistCmd `cmd:"" help:"Accept that a log has lost its end, and go on with the rest."`
}

// Help is what `carillon wal --help` says besides the commands.
func (*walCmd) Help() string {
	return `Examples:

  carillon wal verify ./carillon-data
  carillon wal dump ./carillon-data --from 1200`
}

// walVerifyCmd checks a log and changes nothing.
type walVerifyCmd struct {
	Dir string `arg:"" help:"Data directory, or the directory of a shard or of a log in it; of a stopped server, or a copy." type:"path"`
	outputFlag
}

// Help is what `carillon wal verify --help` says besides the flags.
func (*walVerifyCmd) Help() string {
	return `Every frame is checked against its checksum and against the hash of the frame before it. Exit status 1 means damage; the text says in which file, where, and from which commit on. The file SEGMENTS says which segments there are and up to which commit, the watermark, the log was durable, and the store beside it, in a data directory, which commits it has applied: a log that has less is damaged, as a start will find. The store is read and not changed. If there is none, or it cannot be read, the log is judged alone, and the output says so.

Bytes behind all of that which are no whole commit are a torn tail, as an interrupted write leaves it: no damage, and the next start cuts it off. What was acknowledged in the last seconds before a crash can look the same if it was damaged since.

Examples:

  carillon wal verify ./carillon-data
  carillon wal verify /backup/carillon/wal -o json`
}

// walReport is the JSON of `wal verify`. Its names are part of the output and only grow.
type walReport struct {
	Dir       string     `json:"dir"`
	Intact    bool       `json:"intact"`
	FirstLSN  uint64     `json:"first_lsn"` // 0 if there is no commit
	LastLSN   uint64     `json:"last_lsn"`
	Epoch     uint64     `json:"epoch"`
	Commits   uint64     `json:"commits"`
	Segments  int        `json:"segments"`
	Bytes     int64      `json:"bytes"`
	TornBytes int64      `json:"torn_bytes"`
	Listed    int        `json:"listed_segments"` // 0: the log is of an older release and has no list
	Watermark uint64     `json:"watermark_lsn"`   // LSN up to which, by the list, the log was durable
	Store     *walStore  `json:"store"`           // null: there is no store beside the log
	Litter    []string   `json:"litter"`
	Damage    *walDamage `json:"damage,omitzero"`
}

// walDamage says where a log is damaged, and how.
type walDamage struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	LSN    uint64 `json:"lsn"` // of the first affected commit; 0: unknown
	Reason string `json:"reason"`
}

// Run implements the command. Damage is reported in the document and by the exit status, so that a program needs to
// read only one of them.
func (c *walVerifyCmd) Run(con *console) error {
	dir, err := findLog(c.Dir)
	if err != nil {
		return err
	}
	applied, unread := datadir.StoreBeside(dir)
	found, err := wal.VerifyBeside(dir, applied)
	report := newWalReport(dir, found)
	report.Store = newWalStore(applied, unread)
	if damage := (*wal.CorruptionError)(nil); errors.As(err, &damage) {
		report.Intact = false
		report.Damage = &walDamage{filepath.Join(damage.Dir, damage.Segment), damage.Offset, damage.LSN, damage.Reason}
	} else if mismatch := (*wal.MismatchError)(nil); errors.As(err, &mismatch) {
		report.Intact = false
		report.Damage = &walDamage{File: mismatch.Dir, LSN: mismatch.Applied.LSN, Reason: "the log and the store beside it do not belong together: " + mismatch.Reason}
	} else if err != nil {
		return err
	}
	if c.isDocument() {
		err = errors.Join(err, c.print(con, report))
	} else {
		err = errors.Join(err, con.printWalReport(report))
	}
	return err
}

// newWalReport returns the JSON of a log that is intact; the caller adds the store and any damage.
func newWalReport(dir string, r wal.Report) walReport {
	report := walReport{
		Dir: dir, Intact: true, LastLSN: r.Last.LSN, Epoch: r.Last.Epoch, Commits: r.Frames,
		Segments: r.Segments, Bytes: r.Bytes, TornBytes: r.TornBytes, Litter: r.Litter,
		Listed: r.Listed, Watermark: r.Watermark.LSN,
	}
	if r.Frames > 0 {
		report.FirstLSN = r.Base.LSN + 1
	}
	return report
}

// printWalReport prints the result of wal verify for people.
func (c *console) printWalReport(r walReport) error {
	t := c.table()
	t.Row("log", r.Dir)
	if r.Commits > 0 {
		t.Row("commits", fmt.Sprintf("%d, LSN %d to %d, epoch %d", r.Commits, r.FirstLSN, r.LastLSN, r.Epoch))
	} else {
		t.Row("commits", "none")
	}
	t.Row("size", fmt.Sprintf("%s in %s", formatBytes(r.Bytes), plural(r.Segments, "segment")))
	if r.Listed > 0 {
		t.Row("listed", fmt.Sprintf("%s, durable up to LSN %d", plural(r.Listed, "segment"), r.Watermark))
	} else if r.Segments > 0 && r.Damage == nil {
		t.Row("listed", "nothing; an older release left the log, and the next start makes the list")
	}
	t.Row("store", r.Store.text())
	if r.TornBytes > 0 {
		t.Row("torn tail", fmt.Sprintf("%s that are no whole commit, behind all that the log is known to have had; the next start cuts them off", formatBytes(r.TornBytes)))
	}
	for _, name := range r.Litter {
		t.Row("left over", name+", of an interrupted operation; the next start removes it")
	}
	switch {
	case r.Damage != nil && r.Damage.File == r.Dir:
		t.Row("verdict", "DAMAGED: "+r.Damage.Reason)
	case r.Damage != nil:
		t.Row("verdict", fmt.Sprintf("DAMAGED at offset %d of %s", r.Damage.Offset, r.Damage.File))
	case r.Segments == 0:
		t.Row("verdict", "no log is here yet")
	default:
		t.Row("verdict", "intact")
	}
	return t.Flush()
}

// walDumpCmd prints the commits of a log.
type walDumpCmd struct {
	Path string `arg:"" help:"Data directory, or the directory of a shard or of a log in it, of a stopped server, or a copy; or a file that a node put aside." type:"path"`
	From uint64 `help:"First LSN to print; 0 is the first that is kept." placeholder:"LSN"`
	outputFlag
}

// Help is what `carillon wal dump --help` says besides the flags.
func (*walDumpCmd) Help() string {
	return `Each commit is a line, each row that it changes a line below. With -o json each commit is one JSON line, with -o yaml one YAML document. Commits before a damaged place are printed, then the damage is reported.

Examples:

  carillon wal dump ./carillon-data --from 1200
  carillon wal dump ./carillon-data -o json | jq 'select(.epoch == 3)'
  carillon wal dump ./carillon-data/shards/0/diverged-3-1201-1795274049000.frames`
}

// Run implements the command.
func (c *walDumpCmd) Run(ctx context.Context, con *console) error {
	out := con.buffered()
	show := out.printCommit
	if c.isDocument() {
		show = func(f wal.Frame) error { return out.printCommitDocument(c.Output, f) }
	}
	err := c.dump(func(f wal.Frame) error {
		if err := ctx.Err(); err != nil || f.LSN < c.From {
			return err
		}
		return show(f)
	})
	return errors.Join(err, out.flush())
}

// dump passes the commits of a log, or of a single file of it, to show.
func (c *walDumpCmd) dump(show func(wal.Frame) error) error {
	if info, err := os.Stat(c.Path); err == nil && info.Mode().IsRegular() {
		return wal.DumpFile(c.Path, show)
	}
	dir, err := findLog(c.Path)
	if err != nil {
		return err
	}
	return wal.Dump(dir, c.From, show)
}

// findLog returns the directory of the log: that of shard 0 if the argument is a data directory, wal below the argument
// if that exists, else the argument itself. All are accepted, because people copy any of them; wal is below the directory
// of a shard, and below a data directory that a release before shards has left.
func findLog(dir string) (string, error) {
	for _, candidate := range []string{filepath.Join(datadir.ShardDir(dir, 0), datadir.LogName), filepath.Join(dir, datadir.LogName), dir} {
		if info, err := os.Stat(candidate); err == nil && info.IsDir() {
			return candidate, nil
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%s is not a directory; want a data directory or the wal directory in it", dir)
}
