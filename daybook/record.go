package daybook

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"time"
)

// Minute is what happened in one minute.
type Minute struct {
	At       time.Time // its beginning, a whole minute
	Fired    uint64    // runs that were decided to fire
	Launched uint64    // attempts that were launched
	// P50, P99 and Max are of the lateness of these launches; 0 without any.
	P50, P99, Max time.Duration
}

// The sizes in the file, in bytes, and the number of its records.
const (
	headerBytes = 64
	recordBytes = 64
	sumAt       = 60 // where the checksum of a header or a record is, which covers all bytes before it

	// Minutes is the number of minutes that a book keeps.
	Minutes = 24 * 60
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal puts the checksum into a header or a record.
func seal(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[sumAt:], crc32.Checksum(b[:sumAt], castagnoli))
	return b
}

// isWhole reports whether a header or a record has its checksum.
func isWhole(b []byte) bool {
	return binary.LittleEndian.Uint32(b[sumAt:]) == crc32.Checksum(b[:sumAt], castagnoli)
}

// number returns the number of the minute since 1970, which is positive for every instant that a server records.
func number(t time.Time) uint64 { return uint64(max(0, t.Unix()/60)) }

// slot returns the place of a minute in the ring.
func slot(minute uint64) int { return int(minute % Minutes) }

// encode returns the record of a minute.
func encode(m Minute) []byte {
	b := make([]byte, recordBytes)
	for i, n := range []uint64{number(m.At), m.Fired, m.Launched, uint64(max(0, m.P50)), uint64(max(0, m.P99)), uint64(max(0, m.Max))} {
		binary.LittleEndian.PutUint64(b[8*i:], n)
	}
	return seal(b)
}

// decode returns the minute of a record at a place of the ring. It returns false for a place that was never written, and for
// bytes that are no record or that belong elsewhere.
func decode(b []byte, place int) (Minute, bool) {
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	minute := field(0)
	if !isWhole(b) || minute == 0 || minute > math.MaxInt64/60 || slot(minute) != place {
		return Minute{}, false
	}
	length := func(i int) time.Duration { return time.Duration(min(field(i), math.MaxInt64)) }
	return Minute{
		At: time.Unix(int64(minute)*60, 0).UTC(), Fired: field(1), Launched: field(2),
		P50: length(3), P99: length(4), Max: length(5),
	}, true
}

// join returns one record for two parts of the same minute, as a restart leaves them. Quantiles of parts cannot be added:
// the larger one is kept, so that the minute looks no better than it was.
func join(a, b Minute) Minute {
	a.Fired, a.Launched = a.Fired+b.Fired, a.Launched+b.Launched
	a.P50, a.P99, a.Max = max(a.P50, b.P50), max(a.P99, b.P99), max(a.Max, b.Max)
	return a
}
