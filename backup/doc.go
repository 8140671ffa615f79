// Package backup reads and writes the file that a backup is: a copy of a store at one position of the
// log, with what is needed to tell whose it is and whether it is whole. docs/format/backup.md has every
// byte. The package knows nothing of where the files of the copy come from, or go.
package backup

import (
	"hash/crc32"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The format; all integers are little-endian. These values must not be changed.
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

// The bounds of what a backup holds. A reader refuses what is beyond before it makes room for it.
const (
	FilesMax   = 1 << 16
	PieceBytes = 256 << 10 // that a writer cuts files into
	pieceMax   = 1 << 20   // that a reader takes
	nameMax    = 512
	productMax = 128
)

// Header says what a backup is of.
type Header struct {
	Position  job.Position // that the copy is at
	ClusterID [16]byte     // whose it is; zero: a node alone
	Shard     uint32
	Files     int       // that follow
	Bytes     int64     // of all files together
	CreatedAt time.Time // by the clock of the node that made the copy; milliseconds, UTC
	Product   string    // version of the program that made it
}

// File is one file of the copy.
type File struct {
	Name string // relative, with slashes
	Size int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
