package backup

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/carillon-io/carillon/job"
)

// Writer writes a backup: NewWriter, then for each file File and Writes of its content, then Close. It
// streams: it holds one piece in memory, whatever the size of the backup. After an error every further
// call returns the same error, and the bytes written are not a valid backup. A Writer is not safe for
// concurrent use.
//
// Invariant: files and bytes are those of the header minus those of the files begun, so Close can refuse
// a backup that is shorter than its header says.
type Writer struct {
	w        io.Writer
	digest   hash.Hash // of every byte written so far
	err      error     // the first error; set by Close too, so that no call follows it
	buf      []byte    // the record being built
	piece    []byte    // content not written yet, at most PieceBytes
	files    int       // number of files still to come
	bytes    int64     // bytes of files still to come
	fileLeft int64     // bytes of the present file still to come
}

// NewWriter writes the header of a backup to w. Header.Files and Header.Bytes must be those of the files
// that follow: they are written before the files, and Close returns an error if they were wrong. The caller
// owns w, and makes its content durable.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if h.Files < 0 || h.Files > FilesMax || h.Bytes < 0 || len(h.Product) > productMax {
		return nil, fmt.Errorf("backup: %d files of %d bytes, made by %q: want at most %d files, and at most %d bytes of version",
			h.Files, h.Bytes, h.Product, FilesMax, productMax)
	}
	if h.Shards > 1 && (job.ValidateShards(h.Shards) != nil || h.Shard >= uint32(h.Shards)) {
		return nil, fmt.Errorf("backup: shard %d of %d", h.Shard, h.Shards)
	}
	b := &Writer{w: w, digest: sha256.New(), piece: make([]byte, 0, PieceBytes), files: h.Files, bytes: h.Bytes}
	b.buf = appendHeader(b.buf, &h)
	return b, b.flushRecord()
}

// appendHeader appends the header record without its checksum. docs/format/backup.md lists its offsets.
func appendHeader(b []byte, h *Header) []byte {
	le := binary.LittleEndian
	if b = append(b, magic...); h.Shards > 1 {
		b = le.AppendUint16(append(b, versionPart, 0), uint16(h.Shards))
	} else {
		b = append(b, version, 0, 0, 0)
	}
	b = le.AppendUint64(b, h.Position.LSN)
	b = le.AppendUint64(b, h.Position.Epoch)
	b = append(append(b, h.Position.Hash[:]...), h.ClusterID[:]...)
	b = le.AppendUint32(b, h.Shard)
	b = le.AppendUint32(b, uint32(h.Files))
	b = le.AppendUint64(b, uint64(h.Bytes))
	b = le.AppendUint64(b, uint64(h.CreatedAt.UnixMilli()))
	b = le.AppendUint16(b, uint16(len(h.Product)))
	return append(b, h.Product...)
}

// File begins a file. The file before it must be complete. A file of size 0 needs no Write. The order of the
// files is the caller's; a reader gets the same.
func (b *Writer) File(f File) error {
	if b.err != nil {
		return b.err
	}
	err := checkFile(f)
	switch {
	case err != nil:
	case b.fileLeft > 0:
		err = fmt.Errorf("%d bytes of the file before %q are missing", b.fileLeft, f.Name)
	case b.files == 0 || f.Size > b.bytes:
		err = fmt.Errorf("the file %q is not one of those that the header counts", f.Name)
	}
	if err != nil {
		return b.fail(err)
	}
	b.files, b.bytes, b.fileLeft = b.files-1, b.bytes-f.Size, f.Size
	b.buf = append(b.buf[:0], typeFile)
	b.buf = binary.LittleEndian.AppendUint16(b.buf, uint16(len(f.Name)))
	b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(f.Size))
	b.buf = append(b.buf, f.Name...)
	return b.flushRecord()
}

// Write appends to the content of the file that File began. It collects small writes into pieces, so the size
// of the writes does not change the backup. A call with more bytes than the file has left writes none of them
// and fails.
func (b *Writer) Write(p []byte) (n int, err error) {
	if b.err == nil && int64(len(p)) > b.fileLeft {
		_ = b.fail(fmt.Errorf("%d bytes more than the file has", int64(len(p))-b.fileLeft))
	}
	for b.err == nil && n < len(p) {
		k := min(len(p)-n, PieceBytes-len(b.piece))
		b.piece = append(b.piece, p[n:n+k]...)
		n += k
		if b.fileLeft -= int64(k); b.fileLeft == 0 || len(b.piece) == PieceBytes {
			b.flushPiece()
		}
	}
	return n, b.err
}

// flushPiece writes the collected content as one piece.
func (b *Writer) flushPiece() {
	b.buf = append(b.buf[:0], typePiece)
	b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(len(b.piece)))
	b.buf = append(b.buf, b.piece...)
	b.piece = b.piece[:0]
	_ = b.flushRecord()
}

// Close writes the end record, without which a backup is incomplete. So a program that dies on the way
// leaves a file that every reader refuses. Close does not close the underlying writer.
func (b *Writer) Close() error {
	if b.err == nil && (b.files > 0 || b.bytes > 0 || b.fileLeft > 0) {
		_ = b.fail(fmt.Errorf("%d files and %d bytes are missing", b.files, b.bytes+b.fileLeft))
	}
	if b.err != nil {
		return b.err
	}
	b.buf = b.digest.Sum(append(b.buf[:0], typeEnd))
	if err := b.flushRecord(); err != nil {
		return err
	}
	_ = b.fail(errors.New("it is closed"))
	return nil
}

// flushRecord writes the record in buf with its checksum. The digest covers the checksums too. For the end
// record that has no effect, because its content is fixed before.
func (b *Writer) flushRecord() error {
	b.buf = binary.LittleEndian.AppendUint32(b.buf, crc32.Checksum(b.buf, castagnoli))
	b.digest.Write(b.buf)
	if _, err := b.w.Write(b.buf); err != nil {
		return b.fail(err)
	}
	return nil
}

// fail records an error, which it returns wrapped. Each caller has checked that there is none yet, so that
// the error recorded is the first.
func (b *Writer) fail(err error) error {
	b.err = fmt.Errorf("write the backup: %w", err)
	return b.err
}
