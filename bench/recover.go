package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/client"
)

// recoverCmd kills a loaded server and starts it again.
type recoverCmd struct {
	Count  int `help:"Jobs to load before." default:"1000000"`
	Rounds int `help:"Recoveries, each after a bare scan of the same store." default:"3"`
}

// defaultRecover returns the recovery of the command without flags.
func defaultRecover() *recoverCmd { return &recoverCmd{Count: 1_000_000, Rounds: 3} }

// Validate refuses sizes that make no sense.
func (c *recoverCmd) Validate() error {
	return errors.Join(within("count", c.Count, 1, armedMax), within("rounds", c.Rounds, 1, 100))
}

func (c *recoverCmd) measure(s *stand) []*result {
	bulk, l := loadBulk(s, c.Count)
	results := []*result{s.show(bulk)}
	if l == nil || s.ctx.Err() != nil {
		if l != nil {
			l.server.kill()
		}
		return results
	}
	return append(results, s.show(recoverLoaded(s, l, c.Rounds)))
}

// recoverDue is the number of jobs that are due while the server is down. They show the first launches after a
// recovery, when caches are cold.
const recoverDue = 10_000

// recoverLoaded kills a loaded server and starts it again, several times. It closes the client and ends the server.
func recoverLoaded(s *stand, l *loaded, rounds int) *result {
	r := &result{Name: "recover"}
	r.Setting = fmt.Sprintf("SIGKILL with %d jobs loaded, then start, %d times; %d one-shots are due meanwhile", l.load.accepted, rounds, recoverDue)
	defer func() { l.server.clear() }()
	var c comparison
	err := l.recover(s, r, &c)
	for n := 1; n < rounds && err == nil && s.ctx.Err() == nil; n++ {
		err = l.restart(s, &c)
	}
	c.tell(r)
	if err == nil {
		err = l.server.stop()
	}
	if err != nil {
		r.breaks("%v", err)
	}
	return r
}

// comparison has what was measured of recoveries and of bare scans, in turns.
type comparison struct {
	ready, bare samples
	rows        scanned // of the last scan
}

// tell adds the times, and their ratios round by round.
func (c *comparison) tell(r *result) {
	if len(c.ready) == 0 {
		return
	}
	ratios := make([]float64, len(c.ready))
	for i, ready := range c.ready {
		ratios[i] = ready.Seconds() / c.bare[i].Seconds()
	}
	slices.Sort(ratios)
	slices.Sort(c.ready)
	slices.Sort(c.bare)
	r.count("bare_scan_rows", "rows that a bare scan reads", c.rows.Rows)
	r.add("bare_scan_bytes_per_row", "their size, each", float64(c.rows.Bytes)/float64(max(1, c.rows.Rows)), "B")
	r.add("bare_scan_s", "the bare scan, median", c.bare.at(50_000).Seconds(), "s")
	r.add("ready_median_s", "from the start to the ready line, median", c.ready.at(50_000).Seconds(), "s")
	r.add("ready_to_bare_min", "ready, times the bare scan before it, least", ratios[0], "")
	r.add("ready_to_bare_median", "the same, median", ratios[len(ratios)/2], "")
	r.add("ready_to_bare_max", "the same, most", ratios[len(ratios)-1], "")
}

// addDue registers jobs that are due while the server is down.
func (l *loaded) addDue(s *stand) error {
	due := client.At(time.Now().Add(headStart(recoverDue)))
	err := putJobs(s.ctx, l.client, func(yield func(client.Job) bool) {
		for i := range recoverDue {
			if !yield(fireJob(fmt.Sprintf("due-%d", i), "@at "+due.String(), payload)) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	st, err := l.client.Status(s.ctx)
	// The count that the server must have after the kill: all acknowledged jobs, those that are due among them.
	l.jobs = st.Jobs
	return err
}

// drain waits until the jobs that were due have run. A server launches missed runs from its ready line
// on.
func (l *loaded) drain(s *stand, r *result) error {
	const step, longest = 2 * time.Millisecond, time.Minute
	began := time.Now()
	first := false
	for time.Since(began) < longest && s.ctx.Err() == nil {
		st, err := l.client.Status(s.ctx)
		if err != nil {
			return fmt.Errorf("status: %w", err)
		}
		if st.Lateness.Count > 0 && !first {
			first = true
			r.add("first_launch_ms", "from the ready line to the first launch's outcome", millis(time.Since(began)), "ms")
		}
		// The count begins with the process, and nothing else was due, so it is theirs alone.
		if st.Succeeded >= recoverDue {
			r.add("drained_ms", "to the last of what was due", millis(time.Since(began)), "ms")
			return nil
		}
		s.wait(step)
	}
	r.breaks("what was due was not launched within %s", longest)
	return nil
}

// restart kills the server, scans its store, and starts it again. Both find the files in the page cache. No stop comes
// before, so the log has to be replayed from the last checkpoint; the bare scan does without what only the log has.
func (l *loaded) restart(s *stand, c *comparison) error {
	l.server.kill()
	if err := warm(l.server.dir); err != nil {
		return err
	}
	s.say("recover: killed; scanning the store")
	rows, bare, err := s.bareScan(l.server.dir)
	if err != nil {
		return err
	}
	s.say("recover: starting again")
	srv, err := startServer(s.binary, l.server.dir)
	if err != nil {
		return err
	}
	l.server = srv
	c.rows, c.ready, c.bare = rows, append(c.ready, srv.readyIn), append(c.bare, bare)
	return nil
}

// recover kills the server and measures its restart: the time until it is ready, and its memory afterwards. The client
// is closed before the kill, so that its attempts to reconnect do not load the machine.
func (l *loaded) recover(s *stand, r *result, c *comparison) error {
	err := l.addDue(s)
	l.client.Close()
	if err == nil {
		err = l.restart(s, c)
	}
	if err != nil {
		return err
	}
	srv := l.server
	if l.client, err = connect(srv); err != nil {
		return err
	}
	defer l.client.Close()
	if err := l.drain(s, r); err != nil {
		return err
	}
	const mib = 1 << 20
	resident, _ := srv.memory()
	r.add("ready_s", "from the start to the ready line", srv.readyIn.Seconds(), "s")
	r.add("ready_cpu_s", "processor time for it", cpuOf(srv.cmd.Process.Pid).Seconds(), "s")
	r.add("rss_ready_mib", "resident memory when ready", resident/mib, "MiB")
	// The start leaves garbage that the runtime returns only some time later.
	s.wait(idleWait)
	resident, anonymous := srv.memory()
	r.add("rss_mib", fmt.Sprintf("resident memory after %s", idleWait), resident/mib, "MiB")
	r.add("anonymous_mib", "of it, not backed by a file", anonymous/mib, "MiB")
	if srv.ready.Jobs != l.jobs {
		r.breaks("%d jobs were acknowledged; after a SIGKILL the server has %d", l.jobs, srv.ready.Jobs)
	}
	return l.verify(s, r)
}
