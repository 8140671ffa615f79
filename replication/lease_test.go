package replication

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestLease runs scripts of a holder and of a challenger, each with a clock of its own. The commands are:
//
//	hold renewed=…                                          a leadership begins
//	renew now=… [fails]                                     a renewal begins, and succeeds at once
//	promise now=… node=… stamp=… [length=600ms]             a node promises not to take the lease
//	trust now=…                                             until when may the holder launch, and is a renewal due?
//	watch [node=b swift=false]                              a challenger begins to watch; swift: heirs may take over early
//	saw now=… rev=… node=… term=… [released] [to=…] [heirs=…] a revision is seen; without heirs it is of an older release
//	vanished now=…                                          the bucket has no lease
//	hears now=…                                             the challenger sees each renewal from here on, as it was cut off
//	heard now=… absent|unanswered|answered                  the outcome of a question to the holder
//	promised now=… length=… [term=…]                        the challenger promises the holder of a term not to take the lease
//	at now=…                                                may the challenger take the lease?
//
// Each command of the holder prints until when it may launch; each of the challenger prints the reason for
// which it may take over.
func TestLease(t *testing.T) {
	datadriven.Walk(t, "testdata/lease", func(t *testing.T, path string) {
		s := leaseScript{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
	})
}

type leaseScript struct {
	tenure     tenure
	challenger challenger
}

func (s *leaseScript) run(t *testing.T, d *datadriven.TestData) string {
	now := at(t, d, "now", 0)
	switch d.Cmd {
	case "hold":
		began := at(t, d, "renewed", 0)
		s.tenure = tenure{lease: 15 * time.Second, margin: 2 * time.Second, grace: 500 * time.Millisecond}.taken(began, heirsArg(t, d))
		now = began
	case "renew":
		if heirs := s.tenure.trying(now); !d.HasArg("fails") {
			s.tenure.succeeded(now, now, heirs, d.HasArg("keeps"), d.HasArg("lacks"))
		}
	case "promise":
		s.tenure.promise(text(t, d, "node", ""), at(t, d, "stamp", 0), at(t, d, "length", 600*time.Millisecond), now)
	case "trust":
	default:
		return s.challenge(t, d, now)
	}
	due := ""
	if s.tenure.due(now) {
		due = ", a renewal is due"
	}
	return fmt.Sprintf("launches until %s, heirs %v%s\n", s.tenure.until(), s.tenure.heirs, due)
}

func (s *leaseScript) challenge(t *testing.T, d *datadriven.TestData, now time.Duration) string {
	switch d.Cmd {
	case "watch":
		s.challenger = challenger{node: text(t, d, "node", "b"), lease: 15 * time.Second, grace: 500 * time.Millisecond, takesEarly: text(t, d, "swift", "true") == "true", promises: &promises{}}
	case "saw":
		var revision, term uint64
		d.ScanArgs(t, "rev", &revision)
		d.ScanArgs(t, "term", &term)
		s.challenger.saw(now, revision, leaseValue{
			Node: text(t, d, "node", ""), Term: term, Released: d.HasArg("released"), To: text(t, d, "to", ""), Heirs: heirsArg(t, d),
		})
	case "vanished":
		s.challenger.vanished(now)
	case "back":
		s.challenger.wentBack(now, now)
	case "hears":
		s.challenger.hears = now
	case "heard":
		s.challenger.heard(now, heardOf(d))
	case "promised":
		term := s.challenger.value.Term
		if d.HasArg("term") {
			d.ScanArgs(t, "term", &term)
		}
		if !s.challenger.promises.promise(now, at(t, d, "length", 0), term) {
			return "promises nothing\n"
		}
	case "at":
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	if why := s.challenger.claimReason(now, d.HasArg("led")); why != "" {
		v := s.challenger.claim(testCluster)
		with := ""
		if len(v.Heirs) > 0 {
			with = fmt.Sprintf(" with heirs %v", v.Heirs)
		}
		return fmt.Sprintf("may take it as %s for term %d%s: %s\n", v.Node, v.Term, with, why)
	}
	return "waits\n"
}

func heirsArg(t *testing.T, d *datadriven.TestData) []string {
	if !d.HasArg("heirs") {
		return nil
	}
	return strings.Split(text(t, d, "heirs", ""), "+")
}

func heardOf(d *datadriven.TestData) outcome {
	switch {
	case d.HasArg("absent"):
		return absent
	case d.HasArg("unanswered"):
		return unanswered
	default:
		return answered
	}
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

// TestJudgeOfReads: what a read of the lease means to its holder, which has written revision 10 in term 4.
func TestJudgeOfReads(t *testing.T) {
	own := leaseValue{Node: "a", Term: 4, Renewal: 7}
	for _, c := range []struct {
		what     string
		v        leaseValue
		revision uint64
		trusted  bool
		lasts    bool
		want     error
	}{
		{"its own", own, 10, false, true, nil},
		{"its own renewal without an answer", leaseValue{Node: "a", Term: 4, Renewal: 8}, 11, false, true, nil},
		{"an own renewal of before: the bucket may have gone back", leaseValue{Node: "a", Term: 4, Renewal: 5}, 8, false, true, nil},
		{"the same, and it may launch", leaseValue{Node: "a", Term: 4, Renewal: 5}, 8, true, true, nil},
		{"the holder before it, from a server that was cut off, or the bucket has gone back", leaseValue{Node: "b", Term: 3}, 6, false, true, nil},
		{"the same, and it may launch", leaseValue{Node: "b", Term: 3}, 6, true, true, nil},
		{"the same, and its lease has ended", leaseValue{Node: "b", Term: 3}, 6, false, false, nil},
		{"another holder of its term, in a bucket that has gone back", leaseValue{Node: "b", Term: 4}, 6, true, true, errStale},
		{"the same, and its lease has ended", leaseValue{Node: "b", Term: 4}, 6, false, false, ErrDeposed},
		{"another holder", leaseValue{Node: "b", Term: 5}, 11, true, true, ErrDeposed},
		{"another holder in a bucket made anew", leaseValue{Node: "b", Term: 5}, 2, true, true, ErrDeposed},
		{"its own, given up", leaseValue{Node: "a", Term: 4, Renewal: 7, Released: true}, 11, false, true, ErrDeposed},
		{"none, and it may launch", leaseValue{}, 0, true, true, nil},
		{"none, from a server that lacks it or a bucket made anew", leaseValue{}, 0, false, true, errStale},
		{"none, and its lease has ended", leaseValue{}, 0, false, false, ErrDeposed},
		{"overwritten by a foreign program, and it may launch", leaseValue{}, 11, true, true, nil},
		{"overwritten by a foreign program", leaseValue{}, 11, false, true, ErrDeposed},
	} {
		r := leadership{value: own, revision: 10}
		if got := r.judge(c.v, c.revision, c.trusted, c.lasts); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	// It has written its lease into a bucket made anew, has no answer, and reads the bucket as it was before.
	r := leadership{value: own, revision: 0}
	if got := r.judge(leaseValue{}, 0, false, true); !errors.Is(got, errStale) {
		t.Errorf("none in a bucket to which it has written: %v, want errStale", got)
	}
}

// The holder stops before another node may begin, however late that node saw the renewal and however fast its
// clock runs, as long as the margin covers the difference.
func TestTrustEndsFirst(t *testing.T) {
	for _, c := range []struct {
		rate   float64 // rate of the challenger's clock; the holder's runs at 1
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
		holder := tenure{lease: lease, margin: c.margin, grace: 500 * time.Millisecond, began: begun, renewed: begun}
		other := challenger{node: "b", lease: lease}
		other.saw(clock(begun+c.late), 1, leaseValue{Node: "a", Term: 1})
		now := begun
		for other.claimReason(clock(now), false) == "" {
			now += time.Millisecond
		}
		if safe := holder.until() <= now; safe != c.safe {
			t.Errorf("%+v: trusted until %s, and open from %s", c, holder.until(), now)
		}
	}
}

func TestLeaseValue(t *testing.T) {
	v := leaseValue{Cluster: testCluster.String(), Node: "a", Term: 7, Renewal: 12, Released: true, To: "b", Heirs: []string{"b", "c"}}
	got, err := decodeLease(v.encode())
	if v.Version = leaseVersion; err != nil || !reflect.DeepEqual(got, v) {
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
