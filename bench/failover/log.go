package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/carillon-io/carillon/bench/crash/history"
)

// commitLine is a commit as `wal dump -o json` prints it, as far as it matters here.
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

// dumpLog reads the log of a node that is stopped.
func dumpLog(ctx context.Context, binary string, n *node) (history.Log, error) {
	cmd := exec.CommandContext(ctx, binary, "wal", "dump", n.dir, "-o", "json")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return history.Log{}, err
	}
	l, err := readLog(out)
	_, _ = io.Copy(io.Discard, out) // after an error: nobody is to wait for a reader
	l.Node = n.name
	if err = errors.Join(err, cmd.Wait()); err != nil {
		err = fmt.Errorf("dump of the log of %s: %w", n.name, err)
	}
	return l, err
}

// readLog reads the lines of a dump.
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
