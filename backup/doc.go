// Package backup reads and writes backup files. A backup file is a copy of a store at one position of
// the log, with a header that identifies the installation and checksums that show whether it is
// complete. docs/format/backup.md describes every byte. The package does not know where the files of the
// copy come from, nor where they are written.
//
// A file is a stream: the header, then for each file of the copy a record with its name and size and records
// with pieces of its content, then the end. Writer (writer.go) makes the stream and Reader (reader.go) takes
// it apart; both use io.Writer and io.Reader only, so a backup can go through a pipe. Neither seeks.
// Therefore the counts are in the header, before the files, where they bound what a reader accepts, and the
// digest is at the end, where the writer knows it. Reader and Writer start no goroutine.
//
// The package does not compress, because the tables of the copy are compressed already, and it does not
// encrypt or sign: the checksums detect damage and mixtures, not a forger. checkFile (errors.go) is the one
// defence against a forged file.
package backup

import (
	"hash/crc32"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The format; all integers are little-endian. These values must not change.
const (
	magic       = "CBKP"
	version     = 1  // of a backup of a server with one shard
	versionPart = 2  // of the backup of one shard of several, whose header has their number
	headBytes   = 82 // of a header without the product's version and the checksum
	sumBytes    = 4  // of the CRC-32C that ends each record
	fileBytes   = 11 // of a file's record without its name and the checksum
	pieceHead   = 5  // of a piece's record before its content: type and length
	digestBytes = 32 // of the SHA-256 in the end record
)

// The types of the records after the header; 0 is invalid.
const (
	typeFile  = 1
	typePiece = 2
	typeEnd   = 3
)

// The bounds of a backup. A reader checks each length against them before it allocates memory, so that a
// damaged length costs an error and not the memory of the machine.
const (
	FilesMax = 1 << 16 // of one copy; a store has one file for each table and a few more
	// PieceBytes is the size of the pieces into which a writer splits files. Each costs nine bytes
	// besides its content; a larger one costs memory in writer and reader.
	PieceBytes = 256 << 10
	pieceMax   = 1 << 20 // largest piece that a reader accepts: a later writer may choose larger ones
	nameMax    = 512     // of a file's name, in bytes
	productMax = 128     // of Header.Product, in bytes
)

// Header identifies the content of a backup. The zero value is not valid.
type Header struct {
	Position  job.Position // position of the copy: it has the effects of the log up to there. A restored log begins after it
	ClusterID [16]byte     // cluster of the node; zero for a node without a cluster
	Shard     uint32       // shard of the store
	Shards    int          // how many the cluster has; 0 and 1 are one
	Files     int          // number of files that follow
	Bytes     int64        // total size of the files
	CreatedAt time.Time    // when the copy was made, by the clock of its node; whole milliseconds, UTC
	Product   string       // version of the program that made it
}

// File is one file of the copy.
type File struct {
	Name string // relative path with slashes
	Size int64
}

// castagnoli is the polynomial of the records' checksums, the same as in the log and in the transfer.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)
