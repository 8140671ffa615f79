package server

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestEmptiedStream: the standby is down, jobs are put, the leader ends, and an operator purges the stream of the log. Neither the
// standby, which lacks these jobs, nor a node without data leads before the node that has them is back.
func TestEmptiedStream(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir(), "c": t.TempDir()}
	a, b := p.start("a", dirs["a"]), p.start("b", dirs["b"])
	p.put("early")
	p.level(a, b)
	closing := func(s *Server) {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	closing(b)
	p.put("late")
	closing(a)
	stream, err := p.js.Stream(t.Context(), "CARILLON_LOG_carillon_0")
	if err == nil {
		err = stream.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	roles, logs := make(chan string, 2), map[string]*testkit.Buffer{"b": {}, "c": {}}
	for name, log := range logs {
		o := p.options(name, dirs[name])
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
		o.NATSSyncs = true // nothing is waited for because of what NATS may have lost
		go func() {
			s, err := Start(t.Context(), o)
			if err != nil {
				roles <- err.Error()
				return
			}
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			roles <- name + " is " + s.Ready().Role
		}()
	}
	testkit.Until(p.t, "both say that they must not lead", func() bool {
		select {
		case role := <-roles:
			t.Fatalf("%s without the node that has all", role)
		default:
		}
		return strings.Contains(logs["b"].String(), "must not lead") && strings.Contains(logs["c"].String(), "must not lead")
	})
	a = p.start("a", dirs["a"])
	if a.Ready().Role != "leader" {
		t.Errorf("a is %s", a.Ready().Role)
	}
	for range 2 {
		if role := <-roles; role != "b is standby" && role != "c is standby" {
			t.Error(role)
		}
	}
	for _, name := range []string{"early", "late"} {
		if j, err := p.client(false).Get(t.Context(), name); err != nil || j.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
