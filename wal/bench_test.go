package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	tidwall "github.com/tidwall/wal"
)

const benchSegmentBytes = 4 << 20 // small, so that the change of a segment is in what is measured

// BenchmarkAppend measures durable commits, one after the other, beside the bare library with its
// own sync.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{300, 4 << 10, 64 << 10, MaxPayload} {
		payload := bytes.Repeat([]byte("x"), size)
		b.Run(fmt.Sprintf("size=%d/v=carillon", size), func(b *testing.B) {
			l := mustOpen(b, Options{Dir: filepath.Join(b.TempDir(), "wal"), SegmentBytes: benchSegmentBytes})
			measure(b, size, func(int) error {
				_, err := l.Append(1, payload)
				return err
			})
		})
		b.Run(fmt.Sprintf("size=%d/v=tidwall", size), func(b *testing.B) {
			l, err := tidwall.Open(b.TempDir(), &tidwall.Options{SegmentSize: benchSegmentBytes})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			measure(b, size, func(i int) error { return l.Write(uint64(i), payload) })
		})
	}
}

func measure(b *testing.B, size int, write func(i int) error) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		if err := write(i); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen measures the verification and opening of a log, in bytes of payload.
func BenchmarkOpen(b *testing.B) {
	for _, size := range []int{300, 64 << 10} {
		const total = 64 << 20
		b.Run(fmt.Sprintf("total=64MiB/size=%d", size), func(b *testing.B) {
			opts := benchLog(b, total, size)
			b.SetBytes(total)
			for b.Loop() {
				l, err := Open(opts)
				if err != nil {
					b.Fatal(err)
				}
				_ = l.Close()
			}
		})
	}
}

// BenchmarkReader measures a sequential pass over an open log.
func BenchmarkReader(b *testing.B) {
	const total, size = 64 << 20, 300
	l := mustOpen(b, benchLog(b, total, size))
	b.SetBytes(total)
	for b.Loop() {
		r, err := l.NewReader(1)
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
		_ = r.Close()
	}
}

// benchLog makes a log of total bytes of payload without syncing it.
func benchLog(b *testing.B, total, size int) Options {
	b.Helper()
	opts := Options{Dir: filepath.Join(b.TempDir(), "wal"), disk: unsyncedDisk{}}
	l := mustOpen(b, opts)
	payload := bytes.Repeat([]byte("x"), size)
	for range total / size {
		if _, err := l.Append(1, payload); err != nil {
			b.Fatal(err)
		}
	}
	mustClose(b, l)
	opts.disk = nil
	return opts
}

// unsyncedDisk makes logs quickly, for what is not about durability.
type unsyncedDisk struct{ idleDisk }

func (d unsyncedDisk) journal(dir string, segmentBytes int) (journal, error) {
	j, err := d.idleDisk.journal(dir, segmentBytes)
	return unsyncedJournal{j}, err
}

type unsyncedJournal struct{ journal }

func (unsyncedJournal) Sync() error { return nil }
