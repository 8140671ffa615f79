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

// rowCount is the number of rows and jobs in some commits of bulk loads.
type rowCount struct {
	// Only commits that put jobs are counted.
	commits int
	jobs    int
	rows    int
}

// perJob returns the rows of one job, such as its hot row, its cold row and its name, with its share of what each
// commit has.
func (c rowCount) perJob() float64 { return float64(c.rows) / float64(c.jobs) }

// rowSample is the number of commits that are counted. All commits of a bulk load have about the same number of rows,
// so a few hundred are enough.
const rowSample = 200

// countRows counts the rows in the log of a stopped node, from the commit from on, with the product's own command. It
// ends the command after the sample, because a whole dump would take minutes.
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
	_ = dump.Process.Kill() // the rest of the log is not read; an error says that the process has ended
	_ = dump.Wait()
	if err == nil && c.jobs == 0 {
		err = errors.New("no job is in it")
	}
	if err != nil {
		err = fmt.Errorf("count the rows of the log in %s from %d on: %w", dir, from, err)
	}
	return c, err
}

// countDumped counts the commits that put jobs in the output of the dump. A commit is a line, and each
// of its rows an indented line after it.
func countDumped(in io.Reader) (all rowCount, err error) {
	const lineMost = 4 << 20
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, lineMost)
	var one rowCount
	for lines.Scan() && all.commits < rowSample {
		fields := strings.Fields(lines.Text())
		switch {
		// The next commit begins, so the one before is complete.
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

// add adds a commit if it belongs to a bulk load.
func (c *rowCount) add(one rowCount) {
	if one.jobs > 0 {
		c.commits += one.commits
		c.jobs += one.jobs
		c.rows += one.rows
	}
}
