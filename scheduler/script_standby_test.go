package scheduler

import (
	"context"
	"fmt"
	"time"

	"github.com/cockroachdb/datadriven"
)

// runStandby is a flat switch over the commands of a script that are about the standby and about trust.
func runStandby(s *sim, d *datadriven.TestData, name string) string {
	switch d.Cmd {
	case "lead":
		s.opts.Settings.Lead = duration(s.t, name)
	case "join":
		s.join()
	case "standby":
		return s.standbyText()
	case "ask":
		_, err := s.other.engine.Pause(context.Background(), tenantOf(name), name, "", nil)
		return errText(err)
	case "takeover":
		if after := arg(d, "after"); after != "" {
			s.now = s.now.Add(duration(s.t, after))
		}
		s.log.fail = d.HasArg("fail")
		err := s.takeOver()
		s.log.fail = false
		if err != nil {
			return err.Error()
		}
		s.note("takeover")
		s.settle()
	case "trust":
		s.distrust = name == "none"
		s.settle()
	default:
		s.t.Fatalf("unknown command %q", d.Cmd)
	}
	return ""
}

// standbyText renders what the standby knows.
func (s *sim) standbyText() string {
	st := s.other.engine.Status()
	return fmt.Sprintf("%s epoch=%d behind=%d jobs=%d armed=%d live=%d reporting=%d waiting=%d",
		st.Role, st.Epoch, s.store.Applied().LSN-st.AppliedLSN, st.Jobs, st.Armed, st.Live, st.Reporting, st.Waiting)
}

// trust is the Trust of the engines of a sim.
func (s *sim) trust() time.Duration {
	if s.distrust {
		return 0
	}
	return time.Minute
}
