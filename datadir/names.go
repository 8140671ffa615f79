package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a name in a data directory or in the directory of a shard. What depends on the names goes by the two tables below:
// what a start and `carillon wal verify` check, what a directory of an older layout moves, what is removed with a shard, and
// which paths are inside a data directory. So a name that is added is in all of that.
type entry struct {
	name string
	// check reads the file as a start does, and returns why it cannot be used. It returns nil if there is none, and a
	// passedOver if a start goes on without the file, or writes it again. It writes nothing. nil: nothing of the name is read,
	// or its own package checks it.
	check func(dir string, r reader) error
}

// rootEntries are the names of the process, in the order in which a start reads them.
var rootEntries = []entry{
	{LockName, nil},
	{RestoringName, func(dir string, _ reader) error { return checkMark(dir, RestoringName, ErrRestoring) }},
	{DividingName, func(dir string, _ reader) error { return checkMark(dir, DividingName, ErrDividing) }},
	{NodeName, checkNode},
	{PartsName, checkPartsFile},
	{InstallationName, checkInstallation},
	{ProvenName, checkProven},
	{SessionKeyName, checkSessionKey},
	{ShardsName, nil},
	{NATSName, nil},
	{natsAlone, nil},
	{sourceName, nil},
	{IDsName, nil},
}

// shardEntries are the names of a shard. SHARD is behind the data: it goes last with a shard that other nodes hold.
var shardEntries = []entry{
	{droppedName, nil},
	{LogName, nil},
	{StoreName, nil},
	{JoiningName, checkJoining},
	{MembersName, checkMembers},
	{AncestorsName, checkAncestors},
	{DaybookName, nil}, // package daybook reads it, and nothing depends on it
	{incomingName, nil},
	{outgoingName, nil},
	{NumberName, checkNumber},
}

// usedNames are the files at the root that only a data directory has, and never a part of one.
var usedNames = []string{PartsName, NodeName, InstallationName, RestoringName, DividingName, filepath.Join(LogName, movedName)}

// hasName reports whether a table has a name.
func hasName(table []entry, name string) bool {
	return slices.ContainsFunc(table, func(e entry) bool { return e.name == name })
}

// commonNames are names that directories of other programs may have as well, or those of a log or a store.
var commonNames = []string{LockName, sourceName, IDsName, incomingName, outgoingName}

// IsName reports whether a name shows that the directory with it is a data directory; of a release before shards, too.
func IsName(name string) bool { return isPart(name) && !slices.Contains(commonNames, name) }

// isPart reports whether a data directory can have a name.
func isPart(name string) bool {
	return hasName(rootEntries, name) || strings.HasPrefix(name, NATSName+replacedMark) || isOfShard(name)
}

// isOfShard reports whether a name belongs to a shard. The mark of a shard that is being removed does not count: it is never at
// the root of a directory.
func isOfShard(name string) bool {
	if name == droppedName {
		return false
	}
	for _, part := range []string{LogName, StoreName} {
		if strings.HasPrefix(name, part+replacedMark) || strings.HasPrefix(name, part+behindMark) {
			return true
		}
	}
	return hasName(shardEntries, name) || name == JoiningName+tempSuffix || strings.HasPrefix(name, divergedPrefix) && strings.HasSuffix(name, divergedSuffix)
}

// reader says for whom the small files are checked.
type reader struct {
	clustered bool  // for a node of a cluster
	shard     int64 // whose directory it is; -1: not known
}

// passedOver is an error of a file that a start goes on without, or writes again.
type passedOver struct{ error }

// A FileError is about a small file that cannot be used.
type FileError struct {
	Path   string
	Err    error // names the file
	Passed bool  // a start goes on without the file, or writes it again; otherwise it is refused
}

// Error implements error.
func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// checkEntries checks the small files of a directory.
func checkEntries(dir string, table []entry, r reader) (found []*FileError) {
	for _, e := range table {
		if e.check == nil {
			continue
		}
		if err := e.check(dir, r); err != nil {
			found = append(found, &FileError{filepath.Join(dir, e.name), err, errors.As(err, new(passedOver))})
		}
	}
	return found
}

// refusal returns the first error because of which a start is refused; nil if there is none.
func refusal(found []*FileError) error {
	for _, e := range found {
		if !e.Passed {
			return e.Err
		}
	}
	return nil
}

// CheckFiles checks each small file that a start reads, by the functions of the start, and changes nothing. dir is a data
// directory, the directory of a shard, or that of a log, which has no such file. It returns an error if the list of the shards
// cannot be read.
func CheckFiles(dir string) ([]*FileError, error) {
	shards, err := ShardsOf(dir)
	if err != nil {
		return nil, err
	}
	if len(shards) == 0 { // of a release before shards, of a witness, or of a shard
		r := reader{clustered: !isAlone(dir), shard: -1}
		if root, shard, ok := rootOfShard(dir); ok {
			r = reader{clustered: !isAlone(root), shard: int64(shard)}
		}
		return append(checkEntries(dir, rootEntries, r), checkEntries(dir, shardEntries, r)...), nil
	}
	r := reader{clustered: !isAlone(dir)}
	found := checkEntries(dir, rootEntries, r)
	for _, shard := range shards {
		r.shard = int64(shard)
		found = append(found, checkEntries(ShardDir(dir, shard), shardEntries, r)...)
	}
	return found, nil
}

// isAlone reports whether a node alone can be started on a directory, so far as NODE says.
func isAlone(dir string) bool {
	id, err := ReadIdentity(dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && id.State == StateNew
}

// rootOfShard returns the data directory around the directory of a shard.
func rootOfShard(dir string) (root string, shard uint32, ok bool) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", 0, false
	}
	shard, ok = shardOfName(filepath.Base(abs))
	shards := filepath.Dir(abs)
	return filepath.Dir(shards), shard, ok && filepath.Base(shards) == ShardsName
}

// checkMark returns an error for a directory with a mark that says that it is not complete. Any other error but the absence of
// the mark refuses the directory, too.
func checkMark(dir, name string, unfinished error) error {
	path := filepath.Join(dir, name)
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = unfinished
	}
	return errorAt(path, err)
}
