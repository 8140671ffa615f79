package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The file SHARD in the directory of a shard. It has one line, the number of the shard, and never changes. The numbers of
// directories alone would let two of them be confused by hand; both shards would then take their own data for another
// cluster's, and receive all of it anew.
//
//	carillon shard 3
const numberText = "carillon shard %d\n"

// checkNumber returns an error if the directory is that of another shard. A directory without the file is one of an earlier
// release, or a new one.
func checkNumber(dir string, r reader) error {
	path := filepath.Join(dir, NumberName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n, ok := parseNumber(string(text))
	switch {
	case !ok && r.shard < 0:
		return fmt.Errorf("%s: the file is damaged", path)
	case !ok:
		return fmt.Errorf("%s: the file is damaged; if the directory is that of shard %d, remove the file, and it is written again", path, r.shard)
	case r.shard >= 0 && int64(n) != r.shard:
		return fmt.Errorf("%s: this is the directory of shard %d, and it lies at the place of shard %d; move the directories of the shards back to their places", path, n, r.shard)
	}
	return nil
}

// parseNumber parses the content of the file SHARD. Only the canonical text counts.
func parseNumber(text string) (shard uint32, ok bool) {
	n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(text, "carillon shard "), "\n"), 10, 32)
	return uint32(n), err == nil && n < shardsMost && text == fmt.Sprintf(numberText, n)
}

// NoteNumber writes the file SHARD, if there is none. [Directory.OpenShard] calls it for a new shard. For a directory of an earlier
// release the caller calls it, once it knows that the data is that of the shard.
func (s *Shard) NoteNumber() error {
	if exists(filepath.Join(s.dir, NumberName)) {
		return nil
	}
	if err := replaceFile(s.dir, NumberName, fmt.Appendf(nil, numberText, s.number)); err != nil {
		return fmt.Errorf("keep which shard the directory is: %w", err)
	}
	return nil
}
