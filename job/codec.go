package job

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/carillon-io/carillon/instant"
)

// Every row value begins with its version: rowVersion, or a later one if the row has members that came later; those
// follow the older ones. Integers are varints (signed ones zig-zag), texts are a uvarint length and bytes, instants
// are signed varints of milliseconds, durations of nanoseconds.
const (
	// A row is written in the oldest version that can hold its members, so that during an upgrade the nodes of the
	// older release can read every row that does not use what came later.
	rowVersion  = 1
	rowVersion2 = 2
	rowVersion3 = 3
	rowVersion4 = 4
	rowVersion5 = 5
	rowVersion6 = 6
	rowVersion7 = 7
	rowVersion8 = 8
	rowVersion9 = 9
)

// textBytesMax bounds one text or byte string in a row. It equals the bound of a whole value, so it refuses no row
// that a batch accepts.
const textBytesMax = 1 << 20

// listMax bounds a list in a row. The longest lists are the lines of a calendar and the debts of a job, each at most
// 1,000.
const listMax = 1024

// ErrRow is wrapped by every error of a row decoder: the bytes are not a row of a version that this build knows.
var ErrRow = errors.New("job: malformed row")

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendMillis(b []byte, m instant.Millis) []byte { return binary.AppendVarint(b, int64(m)) }

func appendDuration(b []byte, d time.Duration) []byte { return binary.AppendVarint(b, int64(d)) }

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// appendFloat appends the bits of a number, so that it is read back exactly, and equal numbers have equal bytes.
func appendFloat(b []byte, v float64) []byte {
	return binary.AppendUvarint(b, math.Float64bits(v))
}

func appendTexts(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

func appendPairs(b []byte, pairs []Pair) []byte {
	b = binary.AppendUvarint(b, uint64(len(pairs)))
	for _, p := range pairs {
		b = appendText(appendText(b, p.Key), p.Value)
	}
	return b
}

// rowReader reads a row's value from front to back. After the first fault every read returns zero, and finish returns
// the fault. So a decoder is a plain list of reads. It checks nothing but the form: whether the values make sense was
// checked before they were written.
type rowReader struct {
	b       []byte
	version byte
	err     error
}

// newRowReader returns a reader of a row of version 1.
func newRowReader(value []byte) *rowReader { return newRowReaderUpTo(rowVersion, value) }

// newRowReaderUpTo returns a reader of a row of a kind with versions from 1 to newest.
func newRowReaderUpTo(newest byte, value []byte) *rowReader {
	r := &rowReader{b: value}
	r.version = r.byte()
	if r.err == nil && (r.version < rowVersion || r.version > newest) {
		r.err = fmt.Errorf("%w: version %d, this build reads up to %d", ErrRow, r.version, newest)
	}
	return r
}

// has reports whether the row contains the members that came with a version.
func (r *rowReader) has(version byte) bool { return r.err == nil && r.version >= version }

// fail records the first fault and drops the rest of the row, so that loops over it end.
func (r *rowReader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrRow, what)
	}
	r.b = nil
}

// finish returns the first fault. Bytes that are left over are a fault. A decoder that forgets a member would lose it
// at the next write, so it must not pass.
func (r *rowReader) finish() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("bytes left over")
	}
	return r.err
}

func (r *rowReader) byte() byte {
	if len(r.b) == 0 {
		r.fail("cut short")
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *rowReader) bool() bool { return r.byte() != 0 }

// uint reads an unsigned varint.
func (r *rowReader) uint() uint64 {
	v, w := binary.Uvarint(r.b)
	if w <= 0 {
		r.fail("bad number")
		return 0
	}
	r.b = r.b[w:]
	return v
}

// uint32 reads an unsigned varint; a larger number is a fault and is not cut, which would turn it into another one.
func (r *rowReader) uint32() uint32 {
	v := r.uint()
	if v > math.MaxUint32 {
		r.fail("number too large")
		return 0
	}
	return uint32(v)
}

// int reads a signed varint.
func (r *rowReader) int() int64 {
	v, w := binary.Varint(r.b)
	if w <= 0 {
		r.fail("bad number")
		return 0
	}
	r.b = r.b[w:]
	return v
}

func (r *rowReader) millis() instant.Millis  { return instant.Millis(r.int()) }
func (r *rowReader) duration() time.Duration { return time.Duration(r.int()) }

// bytes reads a byte string, which points into the row: a caller that keeps it copies it.
func (r *rowReader) bytes() []byte {
	head, rest, err := cutBytes(r.b, textBytesMax)
	if err != nil {
		r.fail("bad text length")
		return nil
	}
	r.b = rest
	return head
}

// text reads a text. It is a copy, so a text that is kept does not keep the row.
func (r *rowReader) text() string { return string(r.bytes()) }

func (r *rowReader) float() float64 { return math.Float64frombits(r.uint()) }

// texts reads a list of texts; nil if it is empty. It does not allocate by the count that the row claims.
func (r *rowReader) texts() []string {
	var list []string
	for range r.count() {
		if r.err != nil {
			break
		}
		list = append(list, r.text())
	}
	return list
}

// count reads the length of a list, and checks it before anything is allocated for it.
func (r *rowReader) count() int {
	n := r.uint()
	if n > listMax {
		r.fail("list too long")
		return 0
	}
	return int(n)
}

// pairs reads a list of pairs; nil if it is empty. What it allocates ahead is bounded by what a valid row can have.
func (r *rowReader) pairs() []Pair {
	n := r.count()
	if n == 0 || r.err != nil {
		return nil
	}
	pairs := make([]Pair, 0, min(n, HeadersMax))
	for range n {
		pairs = append(pairs, Pair{Key: r.text(), Value: r.text()})
	}
	return pairs
}
