// Package backup reads and writes backup files. A backup file is a copy of a store at one position of
// the log, with a header that identifies the installation and checksums that show whether it is
// complete. docs/format/backup.md describes every byte. The package does not know where the files of the
// copy come from, nor where they are written.
package backup

import (
	"hash/crc32"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The format; all integers are little-endian. These values must not change.
const (
	magic       = "CBKP"
	version     = 1
	headBytes   = 82 // of a header without the product's version and the checksum
	sumBytes    = 4
	fileBytes   = 11 // of a file's record without its name and the checksum
	pieceHead   = 5
	digestBytes = 32
)

// The types of the records after the header; 0 is invalid.
const (
	typeFile  = 1
	typePiece = 2
	typeEnd   = 3
)

// The bounds of a backup. A reader checks each length against them before it allocates memory.
const (
	FilesMax   = 1 << 16
	PieceBytes = 256 << 10 // size of the pieces into which a writer splits files
	pieceMax   = 1 << 20   // largest piece that a reader accepts
	nameMax    = 512
	productMax = 128
)

// Header identifies the content of a backup. The zero value is not valid.
type Header struct {
	Position  job.Position // position of the copy: it has the effects of the log up to there
	ClusterID [16]byte     // cluster of the node; zero for a node without a cluster
	Shard     uint32
	Files     int       // number of files that follow
	Bytes     int64     // total size of the files
	CreatedAt time.Time // when the copy was made, by the clock of its node; whole milliseconds, UTC
	Product   string    // version of the program that made it
}

// File is one file of the copy.
type File struct {
	Name string // relative path with slashes
	Size int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
