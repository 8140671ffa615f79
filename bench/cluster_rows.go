package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// rowCount is what some commits of bulk loads hold.
type rowCount struct {
	commits int
	jobs    int
	rows    int
}

func (c rowCount) perJob() float64 { return float64(c.rows) / float64(c.jobs) }

// rowSample is how many commits are counted.
const rowSample = 200

// countRows reads the log of a node that is not running, from a commit on, with the product's own
// command.
func (s *stand) countRows(dir string, from uint64) (rowCount, error) {
	dump := exec.CommandContext(s.ctx, s.binary, "wal", "dump", dir, "--from", strconv.FormatUint(from, 10))
	out, err := dump.StdoutPipe()
	if err != nil {
		return rowCount{}, err
	}
	if err := dump.Start(); err != nil {
		return rowCount{}, err
	}
	c, err := countDumped(out)
	_ = dump.Process.Kill() // what follows the sample is not read; and if it has ended, it has
	_ = dump.Wait()
	if err == nil && c.jobs == 0 {
		err = errors.New("no job is in it")
	}
	if err != nil {
		err = fmt.Errorf("count the rows of the log in %s from %d on: %w", dir, from, err)
	}
	return c, err
}

// countDumped counts commits that put jobs. A commit is a line, and each of its rows an indented one.
func countDumped(in io.Reader) (all rowCount, err error) {
	const lineMost = 4 << 20
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, lineMost)
	var one rowCount
	for lines.Scan() && all.commits < rowSample {
		fields := strings.Fields(lines.Text())
		switch {
		case !strings.HasPrefix(lines.Text(), " "):
			all.add(one)
			one = rowCount{commits: 1}
		case len(fields) > 1 && fields[0] == "put" && fields[1] == "job":
			one.jobs++
			fallthrough
		default:
			one.rows++
		}
	}
	if all.commits < rowSample {
		all.add(one)
	}
	return all, lines.Err()
}

// add takes in a commit, if it is of a load.
func (c *rowCount) add(one rowCount) {
	if one.jobs > 0 {
		c.commits += one.commits
		c.jobs += one.jobs
		c.rows += one.rows
	}
}
