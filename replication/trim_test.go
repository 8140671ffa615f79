package replication

import (
	"math/rand/v2"
	"testing"
)

// Whatever is committed, trimmed and needed, the stream keeps what some node needs, and at least the configured
// number of bytes.
func TestTrimmer(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		keep := int64(r.IntN(200_000))
		trimmer := newTrimmer(keep)
		var sizes []int64 // sizes of the commits, from LSN 1
		seqOf := []uint64{0}
		needed, first := uint64(0), uint64(1)
		for range 2000 {
			size := r.IntN(1000)
			lsn := uint64(len(seqOf))
			seqOf = append(seqOf, seqOf[lsn-1]+1+uint64(r.IntN(2))) // some messages are void
			sizes = append(sizes, int64(size)+headerBytes)
			trimmer.note(lsn, seqOf[lsn], size)
			if r.IntN(50) != 0 {
				continue
			}
			needed = max(needed, lsn-uint64(r.IntN(int(lsn))))
			seq := trimmer.cut(needed)
			if seq == 0 {
				continue
			}
			if seq < first || needed < lsn && seq > seqOf[needed+1] {
				t.Fatalf("seed %d: cut before message %d, and commit %d is needed, at %d", seed, seq, needed+1, seqOf[needed+1])
			}
			first = seq
			if left := bytesFrom(sizes, seqOf, seq); left < keep {
				t.Fatalf("seed %d: %d bytes are left, want %d", seed, left, keep)
			}
		}
		if keep < 100_000 && first == 1 {
			t.Errorf("seed %d: nothing was ever trimmed", seed)
		}
	}
}

// bytesFrom returns the total size of the commits at a sequence or after it.
func bytesFrom(sizes []int64, seqOf []uint64, seq uint64) (n int64) {
	for i, size := range sizes {
		if seqOf[i+1] >= seq {
			n += size
		}
	}
	return n
}

// A stream that is made anew has other sequences: marks of the old one must not be applied to it.
func TestTrimmerReset(t *testing.T) {
	trimmer := newTrimmer(0)
	for lsn := range uint64(1000) {
		trimmer.note(lsn+1, 50_000+lsn, 10)
	}
	trimmer.reset()
	for lsn := range uint64(200) {
		trimmer.note(1001+lsn, 1+lsn, 10)
	}
	if seq := trimmer.cut(1200); seq == 0 || seq > 200 {
		t.Errorf("cut before message %d of a stream with 200", seq)
	}
}

// The number of marks is bounded; the newest stay.
func TestTrimmerBound(t *testing.T) {
	trimmer := newTrimmer(0)
	for lsn := uint64(1); lsn <= markEvery*(marksMost+10); lsn++ {
		trimmer.note(lsn, lsn, 0)
	}
	if n := len(trimmer.marks); n > marksMost {
		t.Errorf("there are %d marks, want at most %d", n, marksMost)
	}
	if last := trimmer.marks[len(trimmer.marks)-1].lsn; last < markEvery*(marksMost+9) {
		t.Errorf("the newest mark is of commit %d", last)
	}
}
