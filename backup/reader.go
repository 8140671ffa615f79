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
)

// Reader reads a backup. What it has handed out is that of a whole backup only when Next has returned
// io.EOF: until then it may turn out to be cut short, or of two backups. Not for concurrent use.
type Reader struct {
	r        io.Reader
	digest   hash.Hash
	header   Header
	err      error
	offset   int64 // where the next record begins
	buf      []byte
	piece    []byte // the rest of one
	files    int    // to come
	bytes    int64  // to come
	fileLeft int64  // of the file that is being read, after piece
}

// NewReader reads the header of a backup. Its errors say what is wrong with "the file", which they do not
// name; they are those of this package, or what r said.
func NewReader(r io.Reader) (*Reader, error) {
	b := &Reader{r: r, digest: sha256.New()}
	if err := b.readHeader(); err != nil {
		return nil, err
	}
	b.files, b.bytes = b.header.Files, b.header.Bytes
	return b, nil
}

// Header returns what the backup is of.
func (b *Reader) Header() Header { return b.header }

func (b *Reader) readHeader() error {
	head, err := b.fill(nil, headBytes)
	if len(head) < len(magic) || string(head[:len(magic)]) != magic {
		if err == nil || errors.Is(err, ErrTruncated) {
			err = ErrNotBackup
		}
		return err
	}
	if len(head) > len(magic) && head[len(magic)] != version {
		return fmt.Errorf("version %d: %w", head[len(magic)], ErrVersion)
	}
	if err != nil {
		return err
	}
	product := int(binary.LittleEndian.Uint16(head[headBytes-2:]))
	if product > productMax {
		return b.damaged("the version of the program is longer than any")
	}
	if head, err = b.finish(head, product); err != nil {
		return err
	}
	return b.decodeHeader(head)
}

func (b *Reader) decodeHeader(head []byte) error {
	le := binary.LittleEndian
	h := &b.header
	h.Position.LSN, h.Position.Epoch = le.Uint64(head[8:]), le.Uint64(head[16:])
	copy(h.Position.Hash[:], head[24:])
	copy(h.ClusterID[:], head[40:])
	h.Shard, h.Files, h.Bytes = le.Uint32(head[56:]), int(le.Uint32(head[60:])), int64(le.Uint64(head[64:]))
	h.CreatedAt = time.UnixMilli(int64(le.Uint64(head[72:]))).UTC()
	h.Product = string(head[headBytes:])
	if h.Files > FilesMax || h.Bytes < 0 || [3]byte(head[5:8]) != [3]byte{} {
		return b.damaged("the header says what none can say")
	}
	return nil
}

// Next goes on to the next file, past what is left of the one before. It returns io.EOF after the last
// one, when all that was read is known to be what was written.
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
		return f, b.damaged("neither a file nor the end stands where one of them must")
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

// readEnd compares all that was read with what was written.
func (b *Reader) readEnd(record []byte) error {
	want := b.digest.Sum(nil)
	record, err := b.finish(record, digestBytes)
	switch {
	case err != nil:
		return err
	case b.files > 0 || b.bytes > 0:
		return b.damaged(fmt.Sprintf("%d files and %d bytes are missing before the end", b.files, b.bytes))
	case string(record[1:]) != string(want):
		return b.damaged("the checksum of the whole is that of another backup")
	}
	for {
		switch n, err := b.r.Read(make([]byte, 1)); {
		case n > 0:
			return b.damaged("something follows the end")
		case err != nil:
			return err // io.EOF, if all is well
		}
	}
}

// Read reads the content of the file that Next returned last; io.EOF at its end.
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

func (b *Reader) readPiece() ([]byte, error) {
	record, err := b.fill(nil, 1)
	if err != nil {
		return nil, err
	}
	if record[0] != typePiece {
		return nil, b.damaged("no piece of a file stands where one must")
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

// fill reads n more bytes of a record. Nil begins one.
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

// finish reads the last n bytes of a record and its checksum, and returns the record without that.
func (b *Reader) finish(record []byte, n int) ([]byte, error) {
	record, err := b.fill(record, n+sumBytes)
	if err != nil {
		return nil, err
	}
	body := record[:len(record)-sumBytes]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(record[len(body):]) {
		return nil, b.damaged("its checksum does not fit")
	}
	b.digest.Write(record)
	b.offset += int64(len(record))
	return body, nil
}

func (b *Reader) damaged(reason string) error { return &DamagedError{Offset: b.offset, Reason: reason} }

// Verify reads a backup to its end and returns its header if it is whole. Read, which may be nil, is told
// the bytes of files so far.
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
