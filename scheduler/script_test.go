package scheduler

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestScripts runs the stories in testdata: real engine, real pad, virtual time. Commands:
//
//	start 12:00:00 [lead=250ms] [retention=10s] [history=DAYS] [decisions=N] [catchup=RATE]
//	                                   a new engine on 2026-01-05, a Monday, UTC, whose steps decide
//	                                   at most N ticks; a job NAME of the form T/N is of tenant T
//	put NAME [key=value]               the schedule is the line below, or several; keys: overlap missed window
//	                                   catchup runs attempts paused if concurrent completion timeout
//	                                   failures jitter calendar ends refusals
//	calendar NAME                      puts a calendar; the lines are its exclusions. Jobs follow at once
//	herd T N                           N jobs T/1 to T/N; the schedule is the line below
//	pause|resume|delete|get|ledger NAME
//	trigger NAME [key=K]               a manual run
//	backfill NAME from=12:00:00 to=12:05:00 [limit=N] [repeat] [dry]
//	target NAME ok|hang|refuse|busy|bar|TEXT  how the target of a job answers from now on; bar: it may not be reached
//	report NAME [failed] [fence=N]     the worker that got the last launch of a job reports
//	extend NAME by=DURATION            it asks for more time
//	cancel|retry NAME                  the newest run of a job
//	dead                               all dead runs
//	list STATUS                        the jobs with a status
//	debts                              what is missed and still to be fired
//	answer NAME [TEXT]                 the oldest hanging attempt ends, with an error if there is TEXT
//	advance DURATION                   time passes
//	sleep DURATION                     time passes while the process is down; then it starts again
//	clock DURATION                     the wall clock is set forward or back
//	crash                              kill -9 and start again
//	lead DURATION                      the lead of processes that start, and of standbys that join, from now on
//	join                               a standby begins to follow
//	standby                            what it knows
//	ask NAME                           it is asked to pause a job
//	takeover [fail] [after=DURATION]   the leader dies and the standby leads, unless the log fails
//	figures                            how punctual attempts were, what they waited for, what waits now
//	quota T [jobs=N] [bytes=N] [live=N]  the quota of a tenant from now on
//	uses                               what the tenants use
//	elsewhere T [jobs=N] [bytes=N] [live=N]  what other shards have of a tenant; of all others nothing
//	trust none|back                    launches may not leave, or may again
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		var s *sim
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "start" {
				s = startSim(t, d)
				return "ok"
			}
			var out strings.Builder
			if text := runCommand(s, d); text != "" {
				out.WriteString(strings.TrimRight(text, "\n") + "\n")
			}
			if len(s.events) > 0 || out.Len() == 0 {
				out.WriteString(s.drain())
			}
			return out.String()
		})
	})
}

func startSim(t *testing.T, d *datadriven.TestData) *sim {
	at, err := time.Parse("2006-01-02 15:04:05", "2026-01-05 "+d.CmdArgs[0].Key)
	if err != nil {
		d.Fatalf(t, "start: %v", err)
	}
	settings := Settings{CompletedRetention: -1}
	if v := arg(d, "catchup"); v != "" {
		settings.CatchupRate = must(strconv.Atoi(v))
	}
	if v := arg(d, "lead"); v != "" {
		settings.Lead = duration(t, v)
	}
	if v := arg(d, "retention"); v != "" {
		settings.CompletedRetention = duration(t, v)
	}
	if v := arg(d, "history"); v != "" {
		settings.HistoryDays = must(strconv.Atoi(v))
	}
	s := newSim(t, at.UTC(), settings)
	if v := arg(d, "decisions"); v != "" {
		s.most = must(strconv.Atoi(v))
		s.engine.core.Limit(core.Limits{Decisions: s.most})
	}
	return s
}

// runCommand is a flat switch over the commands of a script.
func runCommand(s *sim, d *datadriven.TestData) string {
	name := ""
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	ctx := context.Background()
	switch d.Cmd {
	case "put":
		return s.put(d)
	case "herd":
		s.herd(d)
	case "pause", "resume":
		p := &core.Pause{Tenant: tenantOf(name), Name: name, Hash: s.hash(name), Resume: d.Cmd == "resume", Reason: arg(d, "reason"), IfVersion: demanded(d)}
		s.propose(p)
		return errText(p.Err)
	case "delete":
		p := &core.Delete{Tenant: tenantOf(name), Name: name, Hash: s.hash(name), IfVersion: demanded(d)}
		s.propose(p)
		return errText(p.Err)
	case "calendar":
		p := &core.PutCalendar{Calendar: job.Calendar{Tenant: "default", Name: name, Exclude: strings.Split(strings.TrimSpace(d.Input), "\n")}}
		if err := p.Calendar.Validate(); err != nil {
			return errText(err)
		}
		s.propose(p)
		return errText(p.Err)
	case "trigger":
		p := &core.Trigger{Tenant: tenantOf(name), Name: name, Hash: s.hash(name), Key: arg(d, "key"), AsOf: s.store.Applied().LSN, IfVersion: demanded(d)}
		s.propose(p)
		if p.Err != nil {
			return errText(p.Err)
		}
		return fmt.Sprintf("run manual=%d", p.Run.ID.Seq)
	case "backfill":
		return s.backfill(d, name)
	case "get":
		v, err := s.engine.Get(ctx, tenantOf(name), name)
		if err != nil {
			return errText(err)
		}
		return viewText(v)
	case "ledger":
		return s.ledger(name)
	case "target":
		s.target[name] = d.CmdArgs[1].Key
		return "ok"
	case "answer":
		failure := ""
		if len(d.CmdArgs) > 1 {
			failure = d.CmdArgs[1].Key
		}
		s.answer(name, failure)
	case "advance":
		s.advance(duration(s.t, name))
	case "sleep":
		s.now = s.now.Add(duration(s.t, name))
		s.crash()
		s.settle()
	case "clock":
		s.now = s.now.Add(duration(s.t, name))
	case "crash":
		s.crash()
		s.settle()
	default:
		return runAct(s, d, name)
	}
	return ""
}

func (s *sim) hash(name string) core.NameHash { return s.engine.hasher.hash(tenantOf(name), name) }

func arg(d *datadriven.TestData, key string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key && len(a.Vals) > 0 {
			return a.Vals[0]
		}
	}
	return ""
}

func duration(t testing.TB, s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s: %v", apierr.From(err).Code, err)
}

func clockOrNone(at instant.Millis) string {
	if at == 0 {
		return "none"
	}
	return clock(at)
}

func viewText(v JobView) string {
	last := "none"
	if v.LastRun != nil {
		last = clock(v.LastRun.ID.At) + seq(v.LastRun.ID) + " " + v.LastRun.Status.String()
	}
	next := clockOrNone(v.NextRunAt)
	if v.NextLaunchAt != v.NextRunAt {
		next += " leaves=" + clockOrNone(v.NextLaunchAt)
	}
	return fmt.Sprintf("%s version=%d next=%s last=%s reason=%q", v.Status, v.Version, next, last, v.StatusReason)
}

// TestSecondTryWithdrawsNothingTwice: an update is tried, found out of date, and tried again. The run
// that the first try took off the pad and put back leaves in between; the second try must not put it
// back once more.
func TestSecondTryWithdrawsNothingTwice(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	s.target["a"] = "hang"
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule = "@at 2026-01-05T12:00:01Z"
	s.propose(must(s.engine.prepare(&def)))
	s.advance(900 * time.Millisecond)

	p := must(s.engine.prepare(&def))
	s.propose(p)
	if back := s.engine.pad.Count(0).Waiting; p.Err != core.ErrStale || len(p.Withdrawn) != 0 || back != 1 {
		t.Fatalf("the first try: %v, keeps %d, put %d back", p.Err, len(p.Withdrawn), back)
	}
	s.advance(200 * time.Millisecond)
	if err := s.engine.readPrior(p); err != nil {
		t.Fatal(err)
	}
	p.Err = nil
	s.propose(p)
	s.advance(time.Second)
	if p.Err != nil || len(s.left) != 1 {
		t.Errorf("the run left %d times (%v)", len(s.left), p.Err)
	}
}
