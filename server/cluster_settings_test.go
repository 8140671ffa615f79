package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/testkit"
)

// flaws returns the warnings of a node about the settings of the streams.
func (p *troupe) flaws(s *Server) (found []string) {
	p.t.Helper()
	for _, w := range p.info(s).Cluster.Warnings {
		if strings.Contains(w, " in NATS has ") {
			found = append(found, w)
		}
	}
	return found
}

// change changes a stream as an operator does.
func (p *troupe) change(stream string, change func(c *jetstream.StreamConfig)) {
	p.t.Helper()
	c := p.settings(stream)
	change(&c)
	if _, err := p.js.UpdateStream(p.t.Context(), c); err != nil {
		p.t.Fatal(err)
	}
}

// settings returns the present settings of a stream.
func (p *troupe) settings(stream string) jetstream.StreamConfig {
	p.t.Helper()
	s, err := p.js.Stream(p.t.Context(), stream)
	if err != nil {
		p.t.Fatal(err)
	}
	return s.CachedInfo().Config
}

// TestLimitsOfStreamsAreSetBack: an operator gives the streams of a cluster limits by which NATS removes what nodes need. A
// standby warns of that, and the node that leads sets them back, and nothing else.
func TestLimitsOfStreamsAreSetBack(t *testing.T) {
	t.Parallel()
	for _, shards := range []int{1, troupeShards} {
		t.Run(fmt.Sprint(shards, " shards"), func(t *testing.T) {
			t.Parallel()
			p := newTroupe(t)
			o := p.options("a", t.TempDir())
			o.Shards = shards
			a := p.startWith(o)
			streams := []string{"KV_CARILLON_LEASE_carillon"}
			for n := range shards {
				streams = append(streams, fmt.Sprintf("CARILLON_LOG_carillon_%d", n))
			}
			well := make(map[string]jetstream.StreamConfig)
			for _, name := range streams {
				well[name] = p.settings(name)
			}
			p.close(a)
			for _, name := range streams {
				p.change(name, func(c *jetstream.StreamConfig) {
					c.MaxAge, c.Duplicates, c.MaxMsgs, c.Description = time.Hour, time.Second, 5000, "mine"
					if !strings.HasPrefix(name, "KV_") {
						c.MaxBytes, c.Discard = 2000, jetstream.DiscardNew
					}
				})
			}
			a = p.startWith(o)
			for _, name := range streams {
				testkit.Until(p.t, name+" is set back", func() bool {
					has, want := p.settings(name), well[name]
					return has.MaxAge == 0 && has.MaxMsgs == want.MaxMsgs && has.MaxBytes == want.MaxBytes && has.Discard == want.Discard
				})
				if got := p.settings(name).Description; got != "mine" {
					t.Errorf("%s: the description is %q; want it left alone", name, got)
				}
			}
			testkit.Until(p.t, "no warning is left", func() bool { return len(p.flaws(a)) == 0 })
		})
	}
}

// TestStandbySaysWhatWasChanged: a standby does not change a stream, and its status says what is wrong. It sets it back once it
// leads.
func TestStandbySaysWhatWasChanged(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	o := p.options("a", t.TempDir())
	a := p.startWith(o)
	const log = "CARILLON_LOG_carillon_0"
	worsen := func() {
		if p.settings(log).MaxAge == 0 {
			p.change(log, func(c *jetstream.StreamConfig) { c.MaxAge, c.Duplicates = time.Hour, time.Second })
		}
	}
	p.close(a)
	worsen()
	a = p.startWith(o)
	testkit.Until(p.t, "the leader has looked", func() bool { return p.settings(log).MaxAge == 0 })
	b := p.start("b", t.TempDir())
	testkit.Until(p.t, "the standby warns", func() bool {
		worsen() // also after another look of the leader
		return slices.ContainsFunc(p.flaws(b), func(w string) bool {
			return strings.Contains(w, log+" in NATS has max_age 1h0m0s, and should have unlimited: NATS removes what a node may still need; the node that leads sets it back")
		})
	})
	p.level(a, b)
	p.kill(a)
	testkit.Until(p.t, "b leads", p.leads(b))
	testkit.Until(p.t, "it is set back", func() bool { return p.settings(log).MaxAge == 0 })
	testkit.Until(p.t, "no warning is left", func() bool { return len(p.flaws(b)) == 0 })
}

// TestFewerReplicasAreSaid: a stream with fewer replicas than it should have is a warning with the command that mends it, for the
// log as for the bucket of the leases. The node leaves them alone.
func TestFewerReplicasAreSaid(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	o := p.options("a", t.TempDir())
	p.close(p.startWith(o))
	o.Replicas = 3
	a := p.startWith(o)
	for _, name := range []string{"CARILLON_LOG_carillon_0", "KV_CARILLON_LEASE_carillon"} {
		testkit.Until(p.t, "it warns of "+name, func() bool {
			return slices.ContainsFunc(p.flaws(a), func(w string) bool {
				return strings.Contains(w, name+" in NATS has num_replicas 1, and should have 3") && strings.Contains(w, "nats stream edit "+name+" --replicas 3")
			})
		})
		if got := p.settings(name).Replicas; got != 1 {
			t.Errorf("%s has %d replicas; want it left alone", name, got)
		}
	}
}
