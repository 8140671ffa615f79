package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// walVerifyCmd checks the logs of a directory, and the stores beside them, and changes nothing.
type walVerifyCmd struct {
	Dir string `arg:"" help:"Data directory, or the directory of a shard or of a log in it; of a stopped server, or a copy." type:"path"`
	outputFlag
}

// Help is what `carillon wal verify --help` says besides the flags.
func (*walVerifyCmd) Help() string {
	return `Every frame is checked against its checksum and against the hash of the frame before it. Exit status 1 means damage; the text says in which file, where, and from which commit on. The file SEGMENTS says which segments there are and up to which commit, the watermark, the log was durable, and the store beside it, in a data directory, which commits it has applied: a log that has less is damaged, as a start will find. The store is read and not changed. If it is damaged, or gone although the file PARTS of the data directory shows that it was there, so is the directory; a log without a directory around it is judged alone, and the output says so. The small files that a start reads, such as NODE and SHARD, are checked as a start checks them. Of a data directory with several shards each is checked; with -o json they are a list, shards, beside intact.

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
	Files     []walFile  `json:"files,omitzero"` // small files of the directory that cannot be used

	storeDamaged bool
	gone         error // a part of the shard is gone; nil if none is known to be
}

// walReports is the JSON of `wal verify` for a directory with several shards.
type walReports struct {
	Intact bool         `json:"intact"`
	Shards []*walReport `json:"shards"`
	Files  []walFile    `json:"files,omitzero"` // as in walReport, of all shards
}

// walDamage says where a log is damaged, and how. Offset is in bytes from the beginning of the file; 0 if the
// damage has no place in it.
type walDamage struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	LSN    uint64 `json:"lsn"` // of the first affected commit; 0: unknown
	Reason string `json:"reason"`
}

// Run implements the command. Damage is reported in the document and by the exit status, so that a program needs to
// read only one of them.
func (c *walVerifyCmd) Run(con *console) error {
	logs, err := findLogs(c.Dir)
	if err != nil {
		return err
	}
	all := walReports{Intact: true}
	damages, err := all.checkFiles(c.Dir)
	if err != nil {
		return err
	}
	for _, dir := range logs {
		report, damage := verifyShard(dir, isSame(c.Dir, dir))
		if report == nil {
			return damage
		}
		all.Shards = append(all.Shards, report)
		all.Intact = all.Intact && report.Intact
		damages = append(damages, damage)
	}
	all.share()
	return errors.Join(errors.Join(damages...), c.show(con, &all))
}

// show prints what was found.
func (c *walVerifyCmd) show(con *console, all *walReports) error {
	if c.isDocument() && len(all.Shards) == 1 {
		return c.print(con, all.Shards[0])
	}
	if c.isDocument() {
		return c.print(con, all)
	}
	var err error
	for i, report := range all.Shards {
		if i > 0 {
			con.printf("\n")
		}
		err = errors.Join(err, con.printWalReport(report))
	}
	return errors.Join(err, con.printWalDirectory(c.Dir, all))
}

// isSame reports whether two paths name one directory.
func isSame(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }

// verifyShard checks the log of a shard, as verifyLog does, and whether the shard still has both parts, unless the log alone is asked
// for.
func verifyShard(dir string, alone bool) (*walReport, error) {
	gone := error(nil)
	if !alone {
		gone = datadir.CheckBeside(dir)
	}
	if _, err := os.Stat(dir); gone != nil && errors.Is(err, fs.ErrNotExist) {
		report := newWalReport(dir, wal.Report{})
		report.Damage = &walDamage{File: dir, Reason: "the directory is missing, and a log was here"}
		report.Intact, report.gone = false, gone
		return report, gone
	}
	report, err := verifyLog(dir)
	if report != nil && gone != nil {
		report.Intact, report.gone = false, gone
		if report.Damage == nil {
			report.Damage = &walDamage{File: filepath.Join(filepath.Dir(dir), datadir.StoreName), Reason: gone.Error()}
		}
	}
	return report, errors.Join(err, gone)
}

// verifyLog checks a log and the store beside it. The error is the damage that the report describes; without a report, it is
// why nothing could be checked.
func verifyLog(dir string) (*walReport, error) {
	applied, unread := datadir.VerifyStoreBeside(dir)
	found, err := wal.VerifyBeside(dir, applied)
	report := newWalReport(dir, found)
	report.Store = newWalStore(applied, unread)
	if damage := (*wal.CorruptionError)(nil); errors.As(err, &damage) {
		report.Damage = &walDamage{filepath.Join(damage.Dir, damage.Segment), damage.Offset, damage.LSN, damage.Reason}
	} else if mismatch := (*wal.MismatchError)(nil); errors.As(err, &mismatch) {
		report.Damage = &walDamage{File: mismatch.Dir, LSN: mismatch.Applied.LSN, Reason: "the log and the store beside it do not belong together: " + mismatch.Reason}
	} else if err != nil {
		return nil, err
	}
	if damage := (*snapshot.DamageError)(nil); errors.As(unread, &damage) {
		report.storeDamaged = true
		err = errors.Join(err, unread)
	}
	report.Intact = err == nil
	return report, err
}

// newWalReport returns the JSON of a log that is intact; the caller adds the store and any damage.
func newWalReport(dir string, r wal.Report) *walReport {
	report := &walReport{
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
func (c *console) printWalReport(r *walReport) error {
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
	rowsOfPassed(t, r.Files)
	switch refused := refusedBy(r.Files); {
	case r.Damage != nil && r.Damage.File == r.Dir:
		t.Row("verdict", "DAMAGED: "+r.Damage.Reason)
	case r.gone != nil:
		t.Row("verdict", "a start is REFUSED: "+r.gone.Error())
	case r.Damage != nil:
		t.Row("verdict", fmt.Sprintf("DAMAGED at offset %d of %s", r.Damage.Offset, r.Damage.File))
	case r.storeDamaged:
		t.Row("verdict", "the log is intact, and the store beside it is DAMAGED")
	case refused != "":
		t.Row("verdict", "the log is intact, and a start is REFUSED: "+refused)
	case r.Segments == 0:
		t.Row("verdict", "no log is here yet")
	default:
		t.Row("verdict", "intact")
	}
	return t.Flush()
}
