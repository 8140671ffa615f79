package job

import (
	"encoding/binary"
	"fmt"
)

// batchVersion is the first byte of a batch. It versions the framing of changes only; each row has its own version.
const batchVersion = 1

// Op is what a change does to the store.
type Op byte

// The operations. Zero is invalid, so that a run of zero bytes is not a batch.
const (
	OpPut Op = iota + 1
	OpDelete
	OpDeleteRange // deletes from Key up to, not including, Value
)

// Bounds of a change, checked before anything is allocated.
const (
	// Several times the longest key, which has a tenant and a name. A larger bound would only let damaged bytes claim
	// more.
	keyBytesMax = 1 << 10
	// Twice the largest payload, so that a record with its largest definition fits.
	valueBytesMax = 1 << 20
)

// Change is the change of one row, or of a range of rows. Key and Value point into the batch that they were read
// from. A holder that keeps them beyond the batch must copy them.
type Change struct {
	Op    Op
	Key   []byte
	Value []byte
}

// Batch is the row changes of one commit, as the log carries them. It contains results, not requests, so a replay
// applies it in order and computes nothing. The zero value is empty and ready. Not safe for concurrent use.
//
// Layout: version byte, then for each change: operation byte, uvarint length and bytes of the key, uvarint length and
// bytes of the value (no value for a delete). Its owner is the loop of the engine; it reuses key and value, so that
// adding a row allocates nothing once the buffers have grown.
type Batch struct {
	buf   []byte
	count int
	rows  byte   // newest version of the rows that were put
	key   []byte // scratch for the key of the change being added
	value []byte // scratch for its value
}

// Reset empties the batch and keeps its memory. It invalidates earlier results of Bytes and Mark.
func (b *Batch) Reset() { b.buf, b.count, b.rows = b.buf[:0], 0, 0 }

// Len returns the number of changes.
func (b *Batch) Len() int { return b.count }

// Size returns the encoded size in bytes.
func (b *Batch) Size() int { return len(b.buf) }

// Mark is a place between two changes of a batch. The zero value is its beginning. A mark lets the engine divide the
// changes of one step at a point that it only learns about later.
type Mark struct{ size, count int }

// IsStart reports whether no change lies before the mark.
func (m Mark) IsStart() bool { return m.count == 0 }

// Mark returns the place after the last change. It is valid until Reset.
func (b *Batch) Mark() Mark { return Mark{size: len(b.buf), count: b.count} }

// MoveAfter moves the changes after a mark of b to the end of another batch, in order. It copies them. Marks of b
// after m are invalid from then on.
func (b *Batch) MoveAfter(m Mark, to *Batch) {
	from := m.size
	if m.IsStart() {
		from = min(1, len(b.buf)) // b keeps its version byte
	}
	to.start()
	to.buf = append(to.buf, b.buf[from:]...)
	to.count += b.count - m.count
	to.rows = max(to.rows, b.rows) // b may be left with older rows only; a number that is too high does no harm
	b.buf, b.count = b.buf[:from], m.count
}

// Bytes returns the encoded batch, valid until the next change or Reset. It is never empty. An empty batch has its
// version byte, so that zero bytes of a log are never taken for a commit without changes.
func (b *Batch) Bytes() []byte {
	b.start()
	return b.buf
}

// start writes the version of an empty batch, so that the zero value is ready.
func (b *Batch) start() {
	if len(b.buf) == 0 {
		b.buf = append(b.buf, batchVersion)
	}
}

// Put adds a row, or replaces the one with the same key. It copies both slices.
func (b *Batch) Put(key, value []byte) { b.add(OpPut, key, value) }

// Delete deletes a row; it need not exist. So a replay that begins in the middle of what the store has already
// applied gives the same state.
func (b *Batch) Delete(key []byte) { b.add(OpDelete, key, nil) }

// DeleteRange deletes the rows from key low up to, not including, key high. It costs one change, however many rows
// there are, which is why whole buckets are deleted with it.
func (b *Batch) DeleteRange(low, high []byte) { b.add(OpDeleteRange, low, high) }

// add appends one change. It notes the version of a put row by its first byte, which every value begins with.
func (b *Batch) add(op Op, key, value []byte) {
	b.start()
	b.buf = append(b.buf, byte(op))
	b.buf = binary.AppendUvarint(b.buf, uint64(len(key)))
	b.buf = append(b.buf, key...)
	if op == OpPut && len(value) > 0 {
		b.rows = max(b.rows, value[0])
	}
	if op != OpDelete {
		b.buf = binary.AppendUvarint(b.buf, uint64(len(value)))
		b.buf = append(b.buf, value...)
	}
	b.count++
}

// Changes calls fn for each change of an encoded batch, in order. Any bytes give changes or an error, never a panic.
// It stops at the first error of fn and returns it. Changes before a malformed one have been passed to fn by then, so
// a caller that must apply all or none collects them first.
func Changes(batch []byte, fn func(Change) error) error {
	if len(batch) == 0 || batch[0] != batchVersion {
		return fmt.Errorf("job: batch: unknown version (want %d)", batchVersion)
	}
	rest := batch[1:]
	for len(rest) > 0 {
		c, tail, err := cutChange(rest)
		if err != nil {
			return fmt.Errorf("job: batch: at byte %d: %w", len(batch)-len(rest), err)
		}
		if err := fn(c); err != nil {
			return err
		}
		rest = tail
	}
	return nil
}

// cutChange decodes the first change of b, which is not empty. A kind of row that this build does not know is an
// error, because a store with rows that no reader of this build expects would be wrong without a sign of it.
func cutChange(b []byte) (c Change, rest []byte, err error) {
	c.Op = Op(b[0])
	if c.Op < OpPut || c.Op > OpDeleteRange {
		return c, nil, errUnknown(c.Op > OpDeleteRange, "unknown operation %d", c.Op)
	}
	if c.Key, rest, err = cutBytes(b[1:], keyBytesMax); err != nil {
		return c, nil, fmt.Errorf("key: %w", err)
	}
	if len(c.Key) == 0 {
		return c, nil, fmt.Errorf("key: it is empty")
	}
	if kind := Kind(c.Key[0]); kind == 0 || kind >= kindEnd {
		return c, nil, errUnknown(kind != 0, "unknown kind of row %d", kind)
	}
	if c.Op == OpDelete {
		return c, rest, nil
	}
	if c.Value, rest, err = cutBytes(rest, valueBytesMax); err != nil {
		return c, nil, fmt.Errorf("value: %w", err)
	}
	return c, rest, nil
}

// errUnknown returns an error about what this build does not know. It wraps [ErrNewerRows] if a newer release may: the
// checksum of the record has been verified, so the byte is what a release wrote.
func errUnknown(mayBeNewer bool, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if mayBeNewer {
		return fmt.Errorf("%w: %w; run the release that wrote them, or a later one", ErrNewerRows, err)
	}
	return err
}

// cutBytes separates a length and that many bytes. The length is checked before it is used, and head has no spare
// capacity, so that an append to it cannot write over rest.
func cutBytes(b []byte, most uint64) (head, rest []byte, err error) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > most || n > uint64(len(b)-w) {
		return nil, nil, fmt.Errorf("length is cut, too long or beyond the end")
	}
	return b[w : w+int(n) : w+int(n)], b[w+int(n):], nil
}
