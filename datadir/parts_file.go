package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The file PARTS. Its first line has the version of the directory's layout. In version 2 a line follows while the move
// from the older layout is not finished, and then one for each shard that has both parts, in ascending order:
//
//	carillon data directory 2
//	moving
//	shard 0
//
// Version 1 has no further line: wal/ and store/ are at the root, and both exist.
const (
	// A release that changes what a directory has raises it, so that this one refuses the directory rather than
	// misread it.
	partsVersion    = 2
	partsVersionOne = 1
	partsText       = "carillon data directory %d\n"
	partsMoving     = "moving"
	partsShard      = "shard %d"
	// Shards that a directory can have. There are 256 slots, so a cluster has no more.
	shardsMost = 256
	// The bound of what is parsed of a file that may be damaged: more than any valid file has.
	partsBytesMax = 8 << 10
)

// partsFile is the content of PARTS. It is a value: a change makes another one.
type partsFile struct {
	version int      // 0: there is no file, or its version cannot be read
	moving  bool     // the move from the older layout is not finished
	shards  []uint32 // the shards that have both parts, ascending
}

// readParts reads the file PARTS. It returns an error if a version of the program wrote it that this one does not know.
// A damaged file counts as one of the older layout, whose shard is 0, with the shards of which there are directories
// besides: it shows that the directory has been in use, and the next write repairs it.
func readParts(dir string) (p partsFile, err error) {
	b, err := os.ReadFile(filepath.Join(dir, PartsName))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	p, _, err = decodeParts(dir, b)
	return p, err
}

// decodeParts decodes the content of the file PARTS of a directory. whole is false if it is damaged.
func decodeParts(dir string, b []byte) (p partsFile, whole bool, err error) {
	text := string(b[:min(len(b), partsBytesMax)])
	if _, err := fmt.Sscanf(text, partsText, &p.version); err == nil && p.version != partsVersionOne && p.version != partsVersion {
		return p, false, fmt.Errorf("%s: a carillon that knows version %d of a data directory wrote it, and this one knows %d; run that one or a later one; "+
			"if none was ever here, the file is damaged: remove it, and it is written again",
			filepath.Join(dir, PartsName), p.version, partsVersion)
	}
	if text == fmt.Sprintf(partsText, partsVersionOne) {
		return p.with(0), true, nil
	}
	if p, whole = parseParts(text); whole {
		return p, true, nil
	}
	return partsFile{version: partsVersionOne, shards: shardsIn(dir)}.with(0), false, nil
}

// checkPartsFile returns an error if the file PARTS is of an unknown version, or damaged. A start writes a damaged one again.
func checkPartsFile(dir string, _ reader) error {
	path := filepath.Join(dir, PartsName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, whole, err := decodeParts(dir, b)
	if err == nil && !whole {
		err = passedOver{fmt.Errorf("%s: the file is damaged; the next start writes it again", path)}
	}
	return err
}

// parseParts parses a whole file of the present version.
func parseParts(text string) (p partsFile, ok bool) {
	for line := range strings.Lines(strings.TrimPrefix(text, fmt.Sprintf(partsText, partsVersion))) {
		var shard uint32
		if line == partsMoving+"\n" {
			p.moving = true
		} else if _, err := fmt.Sscanf(line, partsShard+"\n", &shard); err == nil && shard < shardsMost {
			p = p.with(shard)
		}
	}
	p.version = partsVersion
	return p, p.text() == text // only the canonical text counts
}

// shardsIn returns the shards of which a data directory has a directory.
func shardsIn(dir string) (shards []uint32) {
	for shard := range uint32(shardsMost) {
		if exists(ShardDir(dir, shard)) {
			shards = append(shards, shard)
		}
	}
	return shards
}

// ShardsOf returns the shards that a data directory has, or has had by its file PARTS, in ascending order; none if it is of the older
// layout, or no data directory. A directory without a log, which holds only what was put aside, counts only if PARTS has the shard. It
// changes nothing.
func ShardsOf(dir string) (shards []uint32, err error) {
	parts, err := readParts(dir)
	if err != nil {
		return nil, err
	}
	for shard := range uint32(shardsMost) {
		if parts.version == partsVersion && parts.has(shard) || exists(filepath.Join(ShardDir(dir, shard), LogName)) {
			shards = append(shards, shard)
		}
	}
	return shards, nil
}

// shardOfName returns the shard whose directory has a name; ok is false if none has.
func shardOfName(name string) (shard uint32, ok bool) {
	n, err := strconv.ParseUint(name, 10, 32)
	return uint32(n), err == nil && n < shardsMost && strconv.FormatUint(n, 10) == name
}

// has reports whether a shard has both parts.
func (p partsFile) has(shard uint32) bool { return slices.Contains(p.shards, shard) }

// with returns the content with one more shard.
func (p partsFile) with(shard uint32) partsFile {
	if at, has := slices.BinarySearch(p.shards, shard); !has {
		p.shards = slices.Insert(slices.Clone(p.shards), at, shard)
	}
	return p
}

// without returns the content without a shard.
func (p partsFile) without(shard uint32) partsFile {
	p.shards = slices.DeleteFunc(slices.Clone(p.shards), func(s uint32) bool { return s == shard })
	return p
}

func (p partsFile) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, partsText, partsVersion)
	if p.moving {
		b.WriteString(partsMoving + "\n")
	}
	for _, shard := range p.shards {
		fmt.Fprintf(&b, partsShard+"\n", shard)
	}
	return b.String()
}

// write replaces the file durably. It always writes the present version. A shard's line is the last step of its first
// start: written earlier, it would make a shard that a crash left half made look damaged.
func (p partsFile) write(dir string) error {
	if err := replaceFile(dir, PartsName, []byte(p.text())); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, PartsName), err)
	}
	return nil
}

// NoteParts records that the given shards of a data directory, and no others, have both parts; from then on
// [Directory.OpenShard] reports a missing one. The caller holds the directory's lock, and has made the parts durable. It
// may be called again.
func NoteParts(dir string, shards ...uint32) error {
	p := partsFile{version: partsVersion}
	for _, shard := range shards {
		p = p.with(shard)
	}
	return p.write(dir)
}

// forgetParts undoes [NoteParts], also an interrupted one, for a caller that removes the parts. It does not make the
// removal durable.
func forgetParts(dir string) error {
	path := filepath.Join(dir, PartsName)
	return errors.Join(os.RemoveAll(path), os.RemoveAll(path+".tmp"))
}
