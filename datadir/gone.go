package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A GoneError reports that the log, the store, or both are missing from a shard that had them. The call that
// returns it has changed nothing. To start without the lost part would be the worse answer: a new log beside an old
// store, or a new store beside an old log, looks healthy and has forgotten jobs.
type GoneError struct {
	Dir   string   // the data directory
	Parts []string // the paths in it that are missing or empty
	Known string   // the path in it that shows that they existed
}

// Error implements error.
func (e *GoneError) Error() string {
	paths := make([]string, len(e.Parts))
	for i, name := range e.Parts {
		paths[i] = filepath.Join(e.Dir, name) + string(filepath.Separator)
	}
	what, verb := "", "are"
	if len(paths) == 1 {
		what, verb = "the store and the log do not fit together: ", "is"
	}
	return what + strings.Join(paths, " and ") + " " + verb + " missing or empty, and " + filepath.Join(e.Dir, e.Known) +
		" shows that this data directory has been in use; " +
		"put wal/ and store/ back from one and the same copy, or restore a backup into an empty directory; " +
		"to begin anew without the old jobs, remove the whole data directory"
}

// checkThere returns a GoneError for a shard that has lost a part. shown is the name in the data directory of the file
// that shows that the shard had both, or "". It looks before either part is opened, because opening creates what is
// missing.
func (s *Shard) checkThere(shown string) error {
	in := ShardDir("", s.number)
	return checkParts(s.directory.dir, in, shown, func(part string) (bool, error) { return holds(filepath.Join(s.dir, part)) })
}

// CheckBeside returns a [*GoneError] if the shard to which a log belongs has lost a part, as a start would find: its log, or the store
// beside it. It returns nil if logDir is not the log of a data directory, or if no file there shows that the shard has both parts. It
// changes nothing.
func CheckBeside(logDir string) error {
	logDir, err := filepath.Abs(logDir)
	if err != nil || filepath.Base(logDir) != LogName {
		return err
	}
	shardDir := filepath.Dir(logDir)
	dir, shard, ok := rootOfShard(shardDir)
	if !ok || exists(filepath.Join(shardDir, JoiningName)) { // a start ends what JOINING says before it looks
		return nil
	}
	parts, err := readParts(dir)
	if err != nil || parts.version != partsVersion || !parts.has(shard) {
		return nil // a version that is unknown refuses the file, see CheckFiles
	}
	return checkParts(dir, ShardDir("", shard), PartsName, func(part string) (bool, error) { return holds(filepath.Join(shardDir, part)) })
}

// checkParts returns a GoneError if a part is missing that dir must have, by what there reports about each part. in is
// the directory, relative to dir, in which the parts are.
func checkParts(dir, in, shown string, there func(part string) (bool, error)) error {
	log, err := there(LogName)
	if err != nil {
		return err
	}
	store, err := there(StoreName)
	if err != nil {
		return err
	}
	gone := &GoneError{Dir: dir, Known: shown}
	if !log && (store || shown != "") {
		gone.Parts = append(gone.Parts, filepath.Join(in, LogName))
	}
	if !store && shown != "" {
		gone.Parts = append(gone.Parts, filepath.Join(in, StoreName))
	}
	if len(gone.Parts) == 0 {
		return nil
	}
	if shown == "" {
		gone.Known = filepath.Join(in, StoreName)
	}
	return gone
}

// holds reports whether the directory of a part has a file of that part. It ignores the lock file, unfinished files,
// the lost+found of a file system, and the note where the log was moved: they exist in directories without a part, too.
// So a mount point that is empty, or a directory that only a lock was made in, counts as empty.
func holds(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		name := e.Name()
		return name != "LOCK" && name != "lost+found" && name != movedName && !strings.HasSuffix(name, tempSuffix)
	}), err
}
