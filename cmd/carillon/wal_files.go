package main

import (
	"path/filepath"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/terminal"
)

// walFile is the JSON of a small file of a data directory that cannot be used.
type walFile struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
	Passed bool   `json:"passed"` // a start goes on without the file, or writes it again: no damage
}

// checkFiles checks the small files of a directory. It returns why a start would be refused; err says that it could not check.
func (w *walReports) checkFiles(dir string) (refused []error, err error) {
	found, err := datadir.CheckFiles(dir)
	for _, f := range found {
		w.Files = append(w.Files, walFile{f.Path, f.Error(), f.Passed})
		if !f.Passed {
			refused = append(refused, f)
		}
	}
	w.Intact = len(refused) == 0
	return refused, err
}

// share gives each log the files of its shard, and a single one those of the whole directory.
func (w *walReports) share() {
	if len(w.Shards) == 1 {
		w.Shards[0].take(w.Files)
		return
	}
	for _, report := range w.Shards {
		var own []walFile
		for _, f := range w.Files {
			if filepath.Dir(f.File) == filepath.Dir(report.Dir) {
				own = append(own, f)
			}
		}
		report.take(own)
	}
}

// take adds files to what was found about a log.
func (r *walReport) take(files []walFile) {
	r.Files = files
	r.Intact = r.Intact && refusedBy(files) == ""
}

// refusedBy returns why a start is refused for one of the files; "" if it is not.
func refusedBy(files []walFile) string {
	for _, f := range files {
		if !f.Passed {
			return f.Reason
		}
	}
	return ""
}

// printWalDirectory prints the verdict about a directory with several logs, if a file at its root is not usable.
func (c *console) printWalDirectory(dir string, w *walReports) error {
	var root []walFile
	for _, f := range w.Files {
		if filepath.Dir(f.File) == filepath.Clean(dir) {
			root = append(root, f)
		}
	}
	if len(w.Shards) == 1 || len(root) == 0 {
		return nil
	}
	c.printf("\n")
	t := c.table()
	t.Row("directory", dir)
	rowsOfPassed(t, root)
	verdict := "a start writes again, or does without, what is named above"
	if reason := refusedBy(root); reason != "" {
		verdict = "a start is REFUSED: " + reason
	}
	t.Row("verdict", verdict)
	return t.Flush()
}

// rowsOfPassed adds a row for each file that a start passes over.
func rowsOfPassed(t *terminal.Table, files []walFile) {
	for _, f := range files {
		if f.Passed {
			t.Row("passed over", f.Reason)
		}
	}
}
