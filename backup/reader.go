package backup

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"time"

	"github.com/carillon-io/carillon/job"
)

// Reader reads a backup, one record at a time, in constant memory: the largest record is a piece. The
// caller must not use the files before Next has returned io.EOF: until then the backup may prove
// incomplete, or made of parts of two backups. A Reader is not safe for concurrent use.
//
// Three checks complement one another. The checksum of each record detects damage at once and says
// where. The counts in the header detect missing files. The digest at the end, over all bytes, detects
// records that are intact but belong to another backup.
//
// Invariant: after an error every method returns that error.
type Reader struct {
	r        io.Reader
	digest   hash.Hash // of every byte of the records that are finished
	header   Header    // of the backup; the counts below begin with its values
	err      error     // the first error, or io.EOF after the end record
	offset   int64     // of the next record, in bytes
	buf      []byte    // memory of the record that is being read; reused for each
	piece    []byte    // bytes of the present piece not yet returned
	files    int       // number of files still to come
	bytes    int64     // bytes of files still to come
	fileLeft int64     // bytes of the present file after piece
}

// NewReader reads the header of a backup. Its errors are those of this package, or those of r. Their
// texts have no subject ("is cut short: …"), so that the caller can put the name of the file before
// them.
func NewReader(r io.Reader) (*Reader, error) {
	b := &Reader{r: r, digest: sha256.New()}
	if err := b.readHeader(); err != nil {
		return nil, err
	}
	b.files, b.bytes = b.header.Files, b.header.Bytes
	return b, nil
}

// Header returns the header of the backup. Its checksum is verified; whether the header belongs to the
// files that follow is known only at the end.
func (b *Reader) Header() Header { return b.header }

// readHeader reads and verifies the header. It checks the magic before the version and the version
// before the rest, so that another file, and a backup of another version, get an error of their own and
// not that of damage.
func (b *Reader) readHeader() error {
	head, err := b.fill(nil, headBytes)
	if len(head) < len(magic) || string(head[:len(magic)]) != magic {
		if err == nil || errors.Is(err, ErrTruncated) {
			err = ErrNotBackup
		}
		return err
	}
	if len(head) > len(magic) && head[len(magic)] != version && head[len(magic)] != versionPart {
		return fmt.Errorf("version %d: %w", head[len(magic)], ErrVersion)
	}
	if err != nil {
		return err
	}
	product := int(binary.LittleEndian.Uint16(head[headBytes-2:]))
	if product > productMax {
		return b.damaged("the text of the program's version is too long")
	}
	if head, err = b.finish(head, product); err != nil {
		return err
	}
	return b.decodeHeader(head)
}

// decodeHeader decodes a header whose checksum is correct, and checks that its values are possible.
func (b *Reader) decodeHeader(head []byte) error {
	le := binary.LittleEndian
	h := &b.header
	h.Position.LSN, h.Position.Epoch = le.Uint64(head[8:]), le.Uint64(head[16:])
	copy(h.Position.Hash[:], head[24:])
	copy(h.ClusterID[:], head[40:])
	h.Shard, h.Files, h.Bytes = le.Uint32(head[56:]), int(le.Uint32(head[60:])), int64(le.Uint64(head[64:]))
	h.CreatedAt = time.UnixMilli(int64(le.Uint64(head[72:]))).UTC()
	h.Product = string(head[headBytes:])
	shards := int(le.Uint16(head[6:]))
	if head[4] == versionPart {
		h.Shards = shards
	}
	isOne, isPart := head[4] == version && shards == 0, shards > 1 && job.ValidateShards(shards) == nil && h.Shard < uint32(shards)
	if h.Files > FilesMax || h.Bytes < 0 || head[5] != 0 || !isOne && !(head[4] == versionPart && isPart) {
		return b.damaged("the header has impossible values")
	}
	return nil
}

// Next advances to the next file and skips the unread part of the present one. After the last file it
// verifies the checksum of the whole backup and returns io.EOF if that is correct. Skipped content is read
// and verified too, because the digest covers it.
func (b *Reader) Next() (File, error) {
	if _, err := io.Copy(io.Discard, b); err != nil {
		return File{}, err
	}
	f, err := b.next()
	if err != nil {
		b.err = err
	}
	return f, err
}

// next reads the record of the next file, or the end record. Next has read the rest of the present file.
func (b *Reader) next() (f File, err error) {
	if b.err != nil {
		return f, b.err
	}
	record, err := b.fill(nil, 1)
	switch {
	case err != nil:
		return f, err
	case record[0] == typeEnd:
		return f, b.readEnd(record)
	case record[0] != typeFile || b.files == 0:
		return f, b.damaged("there is neither a file nor the end where one of them must be")
	}
	if record, err = b.fill(record, fileBytes-1); err != nil {
		return f, err
	}
	name := int(binary.LittleEndian.Uint16(record[1:]))
	if name > nameMax {
		return f, b.damaged("the name of a file is too long")
	}
	if record, err = b.finish(record, name); err != nil {
		return f, err
	}
	f = File{Name: string(record[fileBytes:]), Size: int64(binary.LittleEndian.Uint64(record[3:]))}
	if err := checkFile(f); err != nil {
		return File{}, b.damaged(err.Error())
	}
	if f.Size > b.bytes {
		return File{}, b.damaged("the files are larger than the header says")
	}
	b.files, b.bytes, b.fileLeft = b.files-1, b.bytes-f.Size, f.Size
	return f, nil
}

// readEnd compares what was read with the counts and the checksum at the end of the backup. It takes the
// digest before it reads the end record, which the digest does not cover. It then reads on until the source
// ends: bytes after the end are the sign of two files that were joined, or of a copy over a longer file.
func (b *Reader) readEnd(record []byte) error {
	want := b.digest.Sum(nil)
	record, err := b.finish(record, digestBytes)
	switch {
	case err != nil:
		return err
	case b.files > 0 || b.bytes > 0:
		return b.damaged(fmt.Sprintf("%d files and %d bytes are missing before the end", b.files, b.bytes))
	case string(record[1:]) != string(want):
		return b.damaged("the checksum of the whole does not match: it is that of another backup")
	}
	for {
		switch n, err := b.r.Read(make([]byte, 1)); {
		case n > 0:
			return b.damaged("there are bytes after the end")
		case err != nil:
			return err // io.EOF if the backup is complete
		}
	}
}

// Read reads from the file that Next returned last. It returns io.EOF at the end of that file, and at once
// before the first Next. The bytes of a piece are returned only after its checksum was verified.
func (b *Reader) Read(p []byte) (int, error) {
	if len(b.piece) == 0 && b.err == nil && b.fileLeft > 0 {
		b.piece, b.err = b.readPiece()
	}
	switch {
	case len(b.piece) > 0:
		n := copy(p, b.piece)
		b.piece = b.piece[n:]
		return n, nil
	case b.err != nil:
		return 0, b.err
	}
	return 0, io.EOF
}

// readPiece reads the next piece of the present file.
func (b *Reader) readPiece() ([]byte, error) {
	record, err := b.fill(nil, 1)
	if err != nil {
		return nil, err
	}
	if record[0] != typePiece {
		return nil, b.damaged("there is no piece of a file where one must be")
	}
	if record, err = b.fill(record, pieceHead-1); err != nil {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(record[1:]))
	if size == 0 || size > pieceMax || size > b.fileLeft {
		return nil, b.damaged(fmt.Sprintf("a piece has %d bytes, and %d of the file are left", size, b.fileLeft))
	}
	if record, err = b.finish(record, int(size)); err != nil {
		return nil, err
	}
	b.fileLeft -= size
	return record[pieceHead:], nil
}

// fill appends the next n bytes to a record. A nil record begins a new one, in the memory of the one before,
// so a record is valid until the next one begins. At the end of the source it returns what there was and
// ErrTruncated: a source can end only after the end record, where readEnd reads by itself.
func (b *Reader) fill(record []byte, n int) ([]byte, error) {
	if record == nil {
		record = b.buf[:0]
	}
	had := len(record)
	record = append(record, make([]byte, n)...)
	b.buf = record
	got, err := io.ReadFull(b.r, record[had:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrTruncated
	}
	return record[:had+got], err
}

// finish reads the last n bytes of a record and its checksum, and returns the record without that. It is the
// only place where digest and offset move: both count whole, intact records.
func (b *Reader) finish(record []byte, n int) ([]byte, error) {
	record, err := b.fill(record, n+sumBytes)
	if err != nil {
		return nil, err
	}
	body := record[:len(record)-sumBytes]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(record[len(body):]) {
		return nil, b.damaged("its checksum does not match")
	}
	b.digest.Write(record)
	b.offset += int64(len(record))
	return body, nil
}

// damaged returns a DamagedError for the present record.
func (b *Reader) damaged(reason string) error { return &DamagedError{Offset: b.offset, Reason: reason} }

// Verify reads a backup to its end and returns its header if it is complete. It calls read, which may be nil,
// after each call of Next with the number of bytes of files read so far. It makes every check of a restore
// except one: that the files form a store, which only a store can say. With an error of the content it
// returns the header too, so that the caller can say which backup is unusable.
func Verify(r io.Reader, read func(bytes int64)) (Header, error) {
	b, err := NewReader(r)
	if err != nil {
		return Header{}, err
	}
	for err == nil {
		_, err = b.Next()
		if read != nil {
			read(b.header.Bytes - b.bytes - b.fileLeft)
		}
	}
	if !errors.Is(err, io.EOF) {
		return b.header, err
	}
	return b.header, nil
}
