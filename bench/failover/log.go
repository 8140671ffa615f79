package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/bench/history"
)

// commitLine is a commit as `wal dump -o json` prints it, as far as it matters here. Of the rows only those count
// that show which runs the commit has.
type commitLine struct {
	LSN   uint64 `json:"lsn"`
	Epoch uint64 `json:"epoch"`
	Hash  string `json:"hash"`
	Rows  []struct {
		Op   string `json:"op"`
		Kind string `json:"kind"`
		Key  string `json:"key"`
	} `json:"rows"`
}

// dumpLog reads a log that no process writes, from an LSN on. It uses the product's own command, because the format of
// the log is not part of the public contract that this program knows.
func dumpLog(ctx context.Context, binary, dir string, from uint64) (history.Log, error) {
	cmd := exec.CommandContext(ctx, binary, "wal", "dump", dir, "-o", "json", "--from", strconv.FormatUint(from, 10))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return history.Log{}, err
	}
	l, err := readLog(out)
	_, _ = io.Copy(io.Discard, out) // after an error: the process must not wait for a reader
	if err = errors.Join(err, cmd.Wait()); err != nil {
		err = fmt.Errorf("dump of the log in %s: %w", dir, err)
	}
	return l, err
}

// copyWait is how long a log is copied again that changed while it was copied. A copy takes some milliseconds, so a
// second has room for several.
const copyWait = time.Second

// glimpse notes which epochs began, from copies of the logs as they are now. A log that cannot be read now is read
// after the next round. A checkpoint may remove the beginning of an epoch before the end of the run, and without it
// the leadership of a delivery would be unknown.
func (r *rig) glimpse(ctx context.Context) {
	for shard := range r.glimpsed {
		r.glimpseShard(ctx, shard)
	}
}

// glimpseShard does so for one shard.
func (r *rig) glimpseShard(ctx context.Context, shard int) {
	end := uint64(math.MaxUint64)
	for _, n := range r.cluster.engines() {
		if !n.holds(shard) {
			continue
		}
		var l history.Log
		err := until(ctx, copyWait, func() (err error) {
			l, err = r.dumpCopy(ctx, n, shard)
			return err
		})
		if err != nil {
			fmt.Fprintf(r.progress, " (the log of %s is not read now: %.200s)", n.name, err)
			return
		}
		r.rec.Glimpse(l)
		if last := len(l.Commits) - 1; last >= 0 {
			end = min(end, l.Commits[last].LSN)
		}
	}
	if end < math.MaxUint64 {
		// The lowest end of the logs, so that the next reading misses nothing of any.
		r.glimpsed[shard] = end
	}
}

// dumpCopy reads a log by way of a copy, from where both were read to before. A log that is being written changes
// while it is read; the caller repeats a copy that is not consistent.
func (r *rig) dumpCopy(ctx context.Context, n *node, shard int) (history.Log, error) {
	copied := filepath.Join(r.dir, "copy-of-"+n.name)
	defer os.RemoveAll(copied)
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(n.shardDir(shard), "wal"))); err != nil {
		return history.Log{}, err
	}
	l, err := dumpLog(ctx, r.opts.binary, copied, max(r.glimpsed[shard], 1))
	l.Shard = shard
	return l, err
}

// readLog reads the lines of a dump. It keeps positions and run ids and drops the rest, because the logs of a long
// run would not fit into memory.
func readLog(in io.Reader) (history.Log, error) {
	l := history.Log{Runs: make(map[string]bool)}
	for lines := json.NewDecoder(in); ; {
		var c commitLine
		if err := lines.Decode(&c); err == io.EOF {
			return l, nil
		} else if err != nil {
			return l, err
		}
		l.Commits = append(l.Commits, history.Commit{LSN: c.LSN, Epoch: c.Epoch, Hash: c.Hash})
		for _, row := range c.Rows {
			if row.Op == "put" && (row.Kind == "run" || row.Kind == "history") {
				l.Runs[row.Key] = true
			}
		}
	}
}
