package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// diskFull is the scenario that needs the data directories to be file systems of their own.
const diskFull = "disk-full"

// diskBytes is how large such a file system is: enough for what a run of some minutes writes. Small enough to be
// filled within seconds.
const diskBytes = 256 << 20

// fallWait is how long a node may take to notice that its disk is full, and end. The node keeps a reserve of free
// space, so it ends at the next commit and not only when a write fails.
const fallWait = 15 * time.Second

// makeDisks gives the nodes small disks if a scenario needs them and the machine allows it. It must run before the
// nodes are started, since their data is on these disks.
func (r *rig) makeDisks() {
	if !slices.ContainsFunc(r.opts.plan, func(s scenario) bool { return s.name == diskFull }) {
		return
	}
	for i := range 2 {
		if err := mountSmall(dataDir(r.dir, i)); err != nil {
			fmt.Fprintf(r.progress, "%s is left out: %v\n", diskFull, err)
			// One disk alone would make the two nodes unlike.
			removeDisks(r.dir)
			return
		}
	}
	r.smallDisks = true
}

// dataDir returns the data directory of the i-th node, counted from 0; its name is that of the node.
func dataDir(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("n%d", i+1)) }

// removeDisks takes the small file systems down, with what is on them.
func removeDisks(dir string) {
	for i := range 2 {
		_ = unmount(dataDir(dir, i)) // it may not be one
	}
}

// fillDisk fills the data directory of the leader. The node has to end by itself. A node that went on without its disk
// could acknowledge what it cannot keep.
func fillDisk(_ context.Context, r *rig, leader *node) (blow, error) {
	if !r.smallDisks {
		return blow{}, errLeftOut
	}
	filler := filepath.Join(leader.dir, "filler")
	return blow{
		land: func() error { return fill(filler) },
		heal: func() error {
			select {
			case <-leader.proc.Exited():
			case <-time.After(fallWait):
				leader.proc.Kill()
				r.rec.Surprise(fmt.Sprintf("%s was still there %s after its disk was full", leader.name, fallWait))
			}
			if err := os.Remove(filler); err != nil {
				return err
			}
			return leader.restart()
		},
	}, nil
}

// fill writes a file that takes all room there is. It halves the blocks at the end, so that not even a short write of
// the node succeeds.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for block := make([]byte, 1<<20); len(block) > 0; {
		_, err := f.Write(block)
		switch {
		case errors.Is(err, syscall.ENOSPC):
			block = block[:len(block)/2]
		case err != nil:
			return err
		}
	}
	return nil
}
