package replication

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestLease tells stories of a holder and of a challenger, each with a clock of its own. Its commands:
//
//	hold [lease=15s margin=2s cutoff=250ms] renewed=…   a reign begins
//	renewed begun=…                                     a renewal that succeeded was begun
//	link now=… up|down                                  the way to the others
//	watch [node=b swift=false]                          a challenger begins to watch
//	saw now=… rev=… node=… term=… [released] [to=…]     a revision comes
//	vanished now=…                                      the bucket has no lease
//	heard now=… nobody|somebody                         what became of a question to the holder
//	at now=…                                            may it be taken?
//
// Each of the holder's tells until when it may launch; each of the challenger's why it may take over.
func TestLease(t *testing.T) {
	datadriven.Walk(t, "testdata/lease", func(t *testing.T, path string) {
		s := leaseScript{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
	})
}

type leaseScript struct {
	tenure tenure
	rival  rival
}

func (s *leaseScript) run(t *testing.T, d *datadriven.TestData) string {
	now := at(t, d, "now", 0)
	switch d.Cmd {
	case "hold":
		s.tenure = tenure{
			lease: at(t, d, "lease", 15*time.Second), margin: at(t, d, "margin", 2*time.Second),
			cutoff: at(t, d, "cutoff", 250*time.Millisecond), grace: at(t, d, "grace", time.Hour), renewed: at(t, d, "renewed", 0),
		}
	case "renewed":
		s.tenure.succeeded(at(t, d, "begun", 0))
	case "link":
		s.tenure.link(now, d.HasArg("up"))
	default:
		return s.challenge(t, d, now)
	}
	if end := s.tenure.until(); end > 0 {
		return fmt.Sprintf("launches until %s\n", end)
	}
	return "does not launch\n"
}

func (s *leaseScript) challenge(t *testing.T, d *datadriven.TestData, now time.Duration) string {
	switch d.Cmd {
	case "watch":
		s.rival = rival{node: text(t, d, "node", "b"), lease: 15 * time.Second, grace: 500 * time.Millisecond, swift: text(t, d, "swift", "true") == "true"}
	case "saw":
		var revision, term uint64
		d.ScanArgs(t, "rev", &revision)
		d.ScanArgs(t, "term", &term)
		s.rival.saw(now, revision, leaseValue{Node: text(t, d, "node", ""), Term: term, Released: d.HasArg("released"), To: text(t, d, "to", "")})
	case "vanished":
		s.rival.vanished(now)
	case "heard":
		s.rival.heard(now, d.HasArg("nobody"))
	case "at":
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	if why := s.rival.opening(now); why != "" {
		v := s.rival.claim(testCluster)
		return fmt.Sprintf("may take it as %s for term %d: %s\n", v.Node, v.Term, why)
	}
	return "waits\n"
}

func at(t *testing.T, d *datadriven.TestData, key string, or time.Duration) time.Duration {
	v, err := time.ParseDuration(text(t, d, key, or.String()))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func text(t *testing.T, d *datadriven.TestData, key, or string) (v string) {
	if !d.HasArg(key) {
		return or
	}
	d.ScanArgs(t, key, &v)
	return v
}

// The holder has stopped before another may begin, however late that one saw the renewal and however
// its clock runs, as long as the margin covers it.
func TestTrustEndsFirst(t *testing.T) {
	for _, c := range []struct {
		rate   float64 // of the challenger's clock, where the holder's runs at 1
		late   time.Duration
		margin time.Duration
		safe   bool
	}{
		{1, 0, 2 * time.Second, true},
		{1.0005, 0, 2 * time.Second, true},
		{0.9995, 9 * time.Second, 2 * time.Second, true},
		{1.15, time.Millisecond, 2 * time.Second, true},
		{1.16, 0, 2 * time.Second, false},
		{1.0005, 0, 0, false},
	} {
		const begun, lease = 1000 * time.Second, 15 * time.Second
		clock := func(now time.Duration) time.Duration { return time.Duration(float64(now) * c.rate) }
		holder := tenure{lease: lease, margin: c.margin, cutoff: time.Second, renewed: begun}
		other := rival{node: "b", lease: lease}
		other.saw(clock(begun+c.late), 1, leaseValue{Node: "a", Term: 1})
		now := begun
		for other.opening(clock(now)) == "" {
			now += time.Millisecond
		}
		if safe := holder.until() <= now; safe != c.safe {
			t.Errorf("%+v: trusted until %s, and open from %s", c, holder.until(), now)
		}
	}
}

func TestLeaseValue(t *testing.T) {
	v := leaseValue{Cluster: testCluster.String(), Node: "a", Term: 7, Renewal: 12, Released: true, To: "b"}
	got, err := decodeLease(v.encode())
	if v.Version = leaseVersion; err != nil || got != v {
		t.Errorf("it came back as %+v, %v", got, err)
	}
	for name, text := range map[string]string{
		"no JSON": `{`, "a newer version": `{"version":2,"node":"a"}`, "no version": `{"node":"a"}`,
	} {
		if _, err := decodeLease([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "replication: the lease ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
