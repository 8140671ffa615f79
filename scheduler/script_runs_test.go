package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/cockroachdb/datadriven"
)

// runAct is a flat switch over the commands of a script that are about single runs.
func runAct(s *sim, d *datadriven.TestData, name string) string {
	ctx := context.Background()
	switch d.Cmd {
	case "report":
		p := &core.Report{Run: s.given[name].Run, Fence: s.given[name].Fence, Failed: d.HasArg("failed")}
		if v := arg(d, "fence"); v != "" {
			p.Fence = must(strconv.ParseUint(v, 10, 64))
		}
		if p.Result = "done"; p.Failed {
			p.Result, p.Error = "", "broken"
		}
		p.Begun, _ = s.engine.pad.FlyingSince(p.Run)
		s.propose(p)
		return s.actText(p.Err, p.Run)
	case "extend":
		p := &core.Extend{Run: s.given[name].Run, Fence: s.given[name].Fence, By: duration(s.t, arg(d, "by"))}
		s.propose(p)
		if p.Err != nil {
			return errText(p.Err)
		}
		return "until " + clock(p.Deadline)
	case "cancel":
		id := s.newest(name)
		p := &core.CancelRun{Tenant: tenantOf(name), Name: name, Run: id}
		s.propose(p)
		return s.actText(p.Err, id)
	case "retry":
		id := s.newest(name)
		p := &core.RetryRun{Tenant: tenantOf(name)}
		if err := s.engine.readRetry(ctx, p, id); err != nil {
			return errText(err)
		}
		s.propose(p)
		return s.actText(p.Err, id)
	case "dismiss":
		id := s.newest(name)
		p := &core.DismissRun{Tenant: tenantOf(name), Reason: "known"}
		if err := s.engine.readDismissal(ctx, p, id); errors.Is(err, errDismissed) {
			return "dismissed already"
		} else if err != nil {
			return errText(err)
		}
		s.propose(p)
		return s.actText(p.Err, id)
	case "quota":
		return s.quota(d, name)
	case "elsewhere":
		return s.elsewhere(d, name)
	case "uses":
		return s.uses()
	case "figures":
		return figuresText(s.engine.Status())
	case "dead":
		page, err := s.engine.Runs(ctx, RunQuery{Tenant: "default", Status: job.StatusDead, Limit: PageMax})
		if err != nil {
			return errText(err)
		}
		return runsText(page.Runs)
	case "debts":
		return s.debts()
	case "list":
		page, err := s.engine.List(ctx, ListQuery{Tenant: "default", Status: name, Limit: PageMax})
		if err != nil {
			return errText(err)
		}
		names := []string{name + ":"}
		for _, v := range page.Jobs {
			names = append(names, v.Def.Name)
		}
		return strings.Join(names, " ")
	}
	return runStandby(s, d, name)
}

// newest returns the newest run of a job that its ledger lists.
func (s *sim) newest(name string) job.RunID {
	page, err := s.engine.Runs(context.Background(), RunQuery{Tenant: tenantOf(name), Job: name, Limit: 1})
	if err != nil || len(page.Runs) == 0 {
		s.t.Fatalf("no run of %s: %v", name, err)
	}
	return page.Runs[0].ID
}

func (s *sim) actText(err error, id job.RunID) string {
	if err != nil {
		return errText(err)
	}
	run, err := s.engine.Run(context.Background(), "default", id)
	if err != nil {
		return errText(err)
	}
	return runsText([]RunView{run})
}

func runsText(runs []RunView) string {
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, "%s at=%s%s %s attempt=%d", r.Job, clock(r.ID.At), seq(r.ID), r.Status, r.Attempt)
		if r.Dismissal.At != 0 {
			fmt.Fprintf(&b, " dismissed=%s", clock(r.Dismissal.At))
		}
		if r.Reason != 0 {
			fmt.Fprintf(&b, " (%s)", r.Reason)
		}
		if r.Stale > 0 {
			fmt.Fprintf(&b, " stale=%d", r.Stale)
		}
		if r.Deadline != 0 {
			fmt.Fprintf(&b, " until=%s", clock(r.Deadline))
		}
		if r.Error != "" {
			fmt.Fprintf(&b, " error=%q", r.Error)
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "none"
	}
	return b.String()
}

// debts lists what jobs have missed and are still to fire.
func (s *sim) debts() string {
	var lines []string
	for id, ticks := range s.engine.core.Inspect().Debts {
		rec, _, _, err := s.engine.readRows(id)
		if err != nil {
			return err.Error()
		}
		for _, r := range ticks {
			lines = append(lines, fmt.Sprintf("%s %s to %s", rec.Def.Name, clock(r.From), clock(r.Last)))
		}
	}
	if slices.Sort(lines); len(lines) == 0 {
		return "none"
	}
	return strings.Join(lines, "\n")
}
