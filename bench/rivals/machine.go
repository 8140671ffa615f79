package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/bench/measure"
)

// machine is what the figures were measured on, and with which versions.
type machine struct {
	measure.Machine
	FsyncP50 float64           `json:"fsync_p50_ms"`
	FsyncP99 float64           `json:"fsync_p99_ms"`
	Versions map[string]string `json:"versions"`
}

// lookAround describes the machine and measures what an fsync costs in a directory.
func lookAround(dir string) (*machine, error) {
	probes, err := measure.Fsync(dir)
	if err != nil {
		return nil, fmt.Errorf("measure fsync: %w", err)
	}
	m := &machine{
		Machine:  measure.Describe(dir),
		Versions: map[string]string{"nats-server": server.VERSION},
	}
	syncs := samples(probes)
	slices.Sort(syncs)
	m.FsyncP50, m.FsyncP99 = millis(syncs.at(50_000)), millis(syncs.at(99_000))
	return m, nil
}

func (m *machine) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "machine\t%s, %d cores, %s\n", m.CPU, m.Cores, m.Memory)
	fmt.Fprintf(t, "system\t%s, %s, %s\n", m.System, m.FileSystem, m.Go)
	fmt.Fprintf(t, "fsync\tp50 %.3f, p99 %.3f ms (append 4 KiB, %d times)\n", m.FsyncP50, m.FsyncP99, measure.FsyncProbes)
	_ = t.Flush()
}
