package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/carillon-io/carillon/job"
)

// bareScanCmd is the program that a recovery is compared with: it opens a store read-only, and scans the rows from which a
// server rebuilds what it has in memory, on as many goroutines as there are cores. It decodes none of them and keeps
// nothing.
type bareScanCmd struct {
	Store string `arg:""`
}

// bareScanKinds are the kinds of rows that a server reads when it starts.
var bareScanKinds = []job.Kind{
	job.KindTimer, job.KindName, job.KindMeta, job.KindCalendar, job.KindProfile, job.KindRun, job.KindStreak, job.KindDebt, job.KindOutbox,
}

// bareScanCache is the size of the block cache in bytes, which is that of a server.
const bareScanCache = 64 << 20

// scanned is what a bare scan has read. It is printed as JSON.
type scanned struct{ Rows, Bytes int }

// keyRange is a range of keys; the upper bound is not in it.
type keyRange struct{ low, high []byte }

// run scans, and prints what it has read.
func (c *bareScanCmd) run(out io.Writer) (err error) {
	db, err := pebble.Open(c.Store, &pebble.Options{
		ReadOnly: true, DisableWAL: true, FormatMajorVersion: pebble.FormatNewest, CacheSize: bareScanCache, Logger: silent{},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ranges, err := bareRanges(db)
	if err != nil {
		return err
	}
	total, err := scanRanges(db, ranges)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(total)
}

// bareRanges divides the rows of a start at the beginnings of the store's tables, so that the goroutines have equal work.
func bareRanges(db *pebble.DB) (ranges []keyRange, err error) {
	levels, err := db.SSTables()
	if err != nil {
		return nil, err
	}
	var cuts [][]byte
	for _, level := range levels[1:] { // the tables of the first level overlap
		for _, t := range level {
			cuts = append(cuts, t.Smallest.UserKey)
		}
	}
	slices.SortFunc(cuts, bytes.Compare)
	for _, kind := range bareScanKinds {
		low, high := []byte{byte(kind)}, []byte{byte(kind) + 1}
		for _, cut := range cuts {
			if bytes.Compare(low, cut) < 0 && bytes.Compare(cut, high) < 0 {
				ranges = append(ranges, keyRange{low, cut})
				low = cut
			}
		}
		ranges = append(ranges, keyRange{low, high})
	}
	return ranges, nil
}

// scanRanges scans the ranges on all cores. Each goroutine takes the next range that no other one has.
func scanRanges(db *pebble.DB, ranges []keyRange) (total scanned, err error) {
	queue := make(chan keyRange, len(ranges))
	for _, s := range ranges {
		queue <- s
	}
	close(queue)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			var mine scanned
			var failed error
			for s := range queue {
				failed = errors.Join(failed, mine.scan(db, s))
			}
			mu.Lock()
			defer mu.Unlock()
			total.Rows, total.Bytes, err = total.Rows+mine.Rows, total.Bytes+mine.Bytes, errors.Join(err, failed)
		})
	}
	wg.Wait()
	return total, err
}

// scan reads the rows of a range and counts them.
func (c *scanned) scan(db *pebble.DB, s keyRange) error {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: s.low, UpperBound: s.high})
	if err != nil {
		return err
	}
	for valid := it.First(); valid; valid = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			break // Close returns it
		}
		c.Rows++
		c.Bytes += len(it.Key()) + len(value)
	}
	return it.Close()
}

// silent is a logger of Pebble that says nothing.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}

// Fatalf implements [pebble.Logger]. Pebble expects that it does not return.
func (silent) Fatalf(format string, args ...any) {
	slog.Error(fmt.Sprintf(format, args...))
	os.Exit(1)
}

// bareScan runs the bare scan of a data directory in a process of its own, as a server is one. No server may have the
// directory open. It returns the time from the start of the process to its end.
func (s *stand) bareScan(dir string) (got scanned, took time.Duration, err error) {
	cmd := exec.Command(s.program.Self, append(slices.Clone(s.program.Args), "bare-scan", filepath.Join(dir, "shards", "0", "store"))...)
	cmd.Stderr = os.Stderr
	began := time.Now()
	text, err := cmd.Output()
	took = time.Since(began)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		return got, took, fmt.Errorf("the bare scan: %w", err)
	}
	return got, took, nil
}

// warm reads the files of a data directory, so that a bare scan and a start both find them in the page cache.
func warm(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, f)
		return errors.Join(err, f.Close())
	})
}
