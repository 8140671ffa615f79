package scheduler

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// put registers a job.
func (s *sim) put(d *datadriven.TestData) string {
	def := definitionOf(s.t, d)
	p, err := s.engine.prepare(def)
	if err != nil {
		return errText(err)
	}
	p.IfVersion = demanded(d)
	s.proposePut(p)
	if p.Err != nil {
		return errText(p.Err)
	}
	return fmt.Sprintf("version=%d next=%s created=%t", p.Stamp.Version, clockOrNone(p.NextRun), p.Created)
}

// demanded is the version that a command demands of its job; nil if it demands none.
func demanded(d *datadriven.TestData) *uint32 {
	v := arg(d, "if")
	if v == "" {
		return nil
	}
	n := uint32(must(strconv.ParseUint(v, 10, 32)))
	return &n
}

func (s *sim) herd(d *datadriven.TestData) {
	tenant := d.CmdArgs[0].Key
	for i := range must(strconv.Atoi(d.CmdArgs[1].Key)) {
		def := definitionOf(s.t, d)
		def.Tenant, def.Name = tenant, fmt.Sprintf("%s/%d", tenant, i+1)
		s.propose(must(s.engine.prepare(def)))
	}
}

func definitionOf(t testing.TB, d *datadriven.TestData) *job.Definition {
	def := job.Defaults()
	def.Tenant, def.Name = tenantOf(d.CmdArgs[0].Key), d.CmdArgs[0].Key
	def.Target = job.Target{Kind: job.TargetNATS, Subject: "out"}
	if def.Schedule = strings.TrimSpace(d.Input); strings.Contains(def.Schedule, "\n") {
		def.Schedules, def.Schedule = strings.Split(def.Schedule, "\n"), ""
	}
	def.Retry.Jitter = 0
	set := map[string]func(string){
		"overlap":    func(v string) { def.Overlap = must(job.ParseOverlap(v)) },
		"missed":     func(v string) { def.Missed = must(job.ParseMissed(v)) },
		"window":     func(v string) { def.CatchupWindow = duration(t, v) },
		"catchup":    func(v string) { def.MaxCatchupRuns = uint32(must(strconv.Atoi(v))) },
		"runs":       func(v string) { def.MaxRuns = uint32(must(strconv.Atoi(v))) },
		"refusals":   func(v string) { def.Retry.ClientErrors = v == "retry" },
		"attempts":   func(v string) { def.Retry.MaxAttempts = uint32(must(strconv.Atoi(v))) },
		"paused":     func(v string) { def.Paused = v == "true" },
		"if":         func(string) {},
		"concurrent": func(v string) { def.MaxConcurrent = uint32(must(strconv.Atoi(v))) },
		"completion": func(v string) { def.Completion = must(job.ParseCompletion(v)) },
		"timeout":    func(v string) { def.AttemptTimeout = duration(t, v) },
		"failures":   func(v string) { def.PauseOnFailure = uint32(must(strconv.Atoi(v))) },
		"jitter":     func(v string) { def.Jitter = duration(t, v) },
	}
	set["calendar"] = func(v string) { def.Exclude = []string{"@calendar " + v} }
	set["ends"] = func(v string) { def.EndsAt = instant.Of(must(time.Parse("2006-01-02 15:04:05", "2026-01-05 "+v))) }
	for _, a := range d.CmdArgs[1:] {
		if len(a.Vals) == 1 {
			set[a.Key](a.Vals[0])
		}
	}
	return &def
}
