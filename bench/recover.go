package bench

import "fmt"

// recoverCmd kills a loaded server and starts it again.
type recoverCmd struct {
	Count int `help:"Jobs to load before." default:"1000000"`
}

func defaultRecover() *recoverCmd { return &recoverCmd{Count: 1_000_000} }

// Validate refuses sizes that make no sense.
func (c *recoverCmd) Validate() error { return within("count", c.Count, 1, armedMax) }

func (c *recoverCmd) measure(s *stand) []*result {
	bulk, l := loadBulk(s, c.Count)
	results := []*result{s.show(bulk)}
	if l == nil || s.ctx.Err() != nil {
		if l != nil {
			l.server.kill()
		}
		return results
	}
	r := &result{Name: "recover", Setting: fmt.Sprintf("SIGKILL with %d jobs loaded, then start", l.load.accepted)}
	if err := l.recover(s, r); err != nil {
		r.breaks("%v", err)
	}
	return append(results, s.show(r))
}

// recover kills the server, and measures until it is ready again and after.
func (l *loaded) recover(s *stand, r *result) error {
	l.client.Close()
	l.server.kill()
	s.say("recover: killed; starting again")
	srv, err := startServer(s.binary, l.server.dir)
	if err != nil {
		return err
	}
	l.server = srv
	defer srv.clear()
	const mib = 1 << 20
	resident, _ := srv.memory()
	r.add("ready_s", "from the start to the ready line", srv.readyIn.Seconds(), "s")
	r.add("ready_cpu_s", "processor time for it", cpuOf(srv.cmd.Process.Pid).Seconds(), "s")
	r.add("rss_ready_mib", "resident memory when ready", resident/mib, "MiB")
	s.wait(idleWait)
	resident, anonymous := srv.memory()
	r.add("rss_mib", fmt.Sprintf("resident memory after %s", idleWait), resident/mib, "MiB")
	r.add("anonymous_mib", "of it, not backed by a file", anonymous/mib, "MiB")
	if srv.ready.Jobs != l.load.accepted {
		r.breaks("%d jobs were acknowledged; after a SIGKILL the server has %d", l.load.accepted, srv.ready.Jobs)
	}
	if l.client, err = connect(srv); err != nil {
		return err
	}
	defer l.client.Close()
	if err := l.verify(s, r); err != nil {
		return err
	}
	return srv.stop()
}
