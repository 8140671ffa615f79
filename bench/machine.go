package bench

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"text/tabwriter"

	"github.com/carillon-io/carillon/bench/measure"
)

// machine describes the machine on which the figures were measured. Figures without it cannot be compared. The
// times of an fsync are there because each durable figure contains at least one.
type machine struct {
	measure.Machine
	// Product is the first lines of the version command.
	Product string `json:"product"`
	// They are those of an idle machine, before any server runs.
	FsyncP50 float64 `json:"fsync_p50_ms"`
	FsyncP99 float64 `json:"fsync_p99_ms"`
	FsyncMax float64 `json:"fsync_max_ms"`
}

// lookAround describes the machine and measures the time of an fsync in a directory. The time of an fsync is measured
// first, on the still idle machine.
func lookAround(binary, dir string) (*machine, error) {
	version, err := exec.Command(binary, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w (make build builds it)", binary, err)
	}
	probes, err := measure.Fsync(dir)
	if err != nil {
		return nil, fmt.Errorf("measure fsync: %w", err)
	}
	m := &machine{
		Machine: measure.Describe(dir),
		Product: firstLines(string(version), 2),
	}
	syncs := samples(probes)
	syncs.points() // sorts
	m.FsyncP50, m.FsyncP99, m.FsyncMax = millis(syncs.at(50_000)), millis(syncs.at(99_000)), millis(syncs.at(100_000))
	return m, nil
}

// firstLines returns the first n lines of a text as one line.
func firstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(strings.Fields(strings.Join(lines[:min(n, len(lines))], " ")), " ")
}

// print writes the description above the first result.
func (m *machine) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "machine\t%s, %d cores, %s\n", m.CPU, m.Cores, m.Memory)
	fmt.Fprintf(t, "system\t%s, %s, %s\n", m.System, m.FileSystem, m.Go)
	fmt.Fprintf(t, "product\t%s\n", m.Product)
	fmt.Fprintf(t, "fsync\tp50 %.3f, p99 %.3f, max %.3f ms (append 4 KiB, %d times)\n", m.FsyncP50, m.FsyncP99, m.FsyncMax, measure.FsyncProbes)
	_ = t.Flush()
}
