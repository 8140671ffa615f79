package bench

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

func TestNearestRank(t *testing.T) {
	var s samples
	for i := range 1000 {
		s = append(s, time.Duration(1000-i))
	}
	want := map[string]time.Duration{"min": 1, "p50": 500, "p90": 900, "p99": 990, "p999": 999, "p9999": 1000, "max": 1000}
	for _, p := range s.points() {
		if p.value != want[p.key] {
			t.Errorf("%s of 1 to 1000 is %d, want %d", p.key, p.value, want[p.key])
		}
	}
	for _, p := range (samples{}).points() {
		if p.value != 0 {
			t.Errorf("%s of nothing is %d", p.key, p.value)
		}
	}
	for _, p := range (samples{7}).points() {
		if p.value != 7 {
			t.Errorf("%s of one 7 is %d", p.key, p.value)
		}
	}
}

// aWindow returns three seconds with two one-shots and two jobs that tick each second, and what a
// server that keeps its promises makes arrive.
func aWindow() (*window, []receipt) {
	from := time.UnixMilli(1_795_000_000_000)
	at := func(ms int) time.Time { return from.Add(time.Duration(ms) * time.Millisecond) }
	w := &window{from: from, to: at(3000), every: 2, due: map[string]time.Time{"shot-0": at(0), "shot-1": at(2999)}}
	var receipts []receipt
	add := func(job string, ms, lateUS int) {
		receipts = append(receipts, receipt{job, job + at(ms).String(), at(ms), at(ms).Add(time.Duration(lateUS) * time.Microsecond)})
	}
	add("shot-0", 0, 100)
	add("shot-1", 2999, 200)
	for ms := -1000; ms <= 4000; ms += 1000 { // those before and after the window do not count
		add("every-0", ms, 300)
		add("every-1", ms+500, 400)
	}
	return w, receipts
}

func TestJudge(t *testing.T) {
	remove := func(r []receipt, i int) []receipt { return slices.Delete(r, i, i+1) }
	tests := []struct {
		name string
		bend func([]receipt) []receipt
		want tally // its counts
	}{
		{"clean", func(r []receipt) []receipt { return r }, tally{}},
		{"a one-shot is lost", func(r []receipt) []receipt { return remove(r, 0) }, tally{missing: 1}},
		{"a tick is lost", func(r []receipt) []receipt { return remove(r, 6) }, tally{missing: 1}},
		{"the first tick is lost", func(r []receipt) []receipt { return remove(r, 4) }, tally{missing: 1}},
		{"the last tick is lost", func(r []receipt) []receipt { return remove(r, 9) }, tally{missing: 1}},
		{"a tick outside is lost", func(r []receipt) []receipt { return remove(r, 2) }, tally{}},
		{"a job never ticks", func(r []receipt) []receipt {
			return slices.DeleteFunc(r, func(one receipt) bool { return one.job == "every-1" })
		}, tally{missing: 3}},
		{"early", func(r []receipt) []receipt {
			r[1].arrived = r[1].scheduled.Add(-time.Microsecond)
			return r
		}, tally{early: 1}},
		{"doubled", func(r []receipt) []receipt { return append(r, r[5]) }, tally{doubled: 1}},
		{"of another time", func(r []receipt) []receipt {
			r[0].scheduled = r[0].scheduled.Add(-time.Millisecond)
			return r
		}, tally{strange: 1, missing: 1}},
		{"off the grid", func(r []receipt) []receipt {
			r[6].scheduled = r[6].scheduled.Add(-time.Millisecond)
			return r
		}, tally{strange: 1, missing: 1}},
		{"of nobody", func(r []receipt) []receipt {
			r[0].job = "ghost"
			return r
		}, tally{strange: 1, missing: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, receipts := aWindow()
			got := w.judge(tt.bend(receipts))
			if got.early != tt.want.early || got.missing != tt.want.missing || got.doubled != tt.want.doubled || got.strange != tt.want.strange {
				t.Errorf("early %d, missing %d, doubled %d, strange %d; want %d, %d, %d, %d", got.early, got.missing, got.doubled,
					got.strange, tt.want.early, tt.want.missing, tt.want.doubled, tt.want.strange)
			}
			var r result
			got.tell(&r)
			if (len(r.Broken) == 0) != (tt.name == "clean" || tt.name == "a tick outside is lost") {
				t.Errorf("broken: %q", r.Broken)
			}
		})
	}
	w, receipts := aWindow()
	w.cut(w.from.Add(-time.Second)) // interrupted before it began
	if got := w.judge(receipts); got.missing != 0 || len(got.all) != 0 {
		t.Errorf("%d are missing and %d count in an empty window", got.missing, len(got.all))
	}
	w, receipts = aWindow()
	for i := range 3 { // those of the bare program are beside, and one in them that is early breaks nothing
		receipts = append(receipts, receipt{job: barePrefix + "0", runID: "bare", scheduled: w.from, arrived: w.from.Add(time.Duration(i) * time.Millisecond)})
	}
	got := w.judge(receipts)
	if len(got.bare) != 3 || len(got.all) != 8 || got.doubled+got.strange+got.missing != 0 {
		t.Errorf("%d of the bare program, %d others: %+v", len(got.bare), len(got.all), got)
	}
	var r result
	if got.tell(&r); !slices.ContainsFunc(r.Figures, func(f figure) bool { return f.Key == "lateness_to_bare_p99" && f.Value > 0 }) {
		t.Errorf("no ratio among %+v", r.Figures)
	}
	w, receipts = aWindow()
	if got := w.judge(receipts); len(got.all) != 8 || len(got.shots) != 2 {
		t.Errorf("%d arrivals count, %d of one-shots; want 8 and 2", len(got.all), len(got.shots))
	}
}

// What proof measures are workloads that could be run alone.
func TestProofIsValid(t *testing.T) {
	c := &proofCmd{Armed: 10_000_000, For: 20 * time.Second}
	for _, j := range c.jitters() {
		if err := j.Validate(); err != nil {
			t.Errorf("jitter %s: %v", j.group, err)
		}
	}
	for _, h := range c.herds() {
		if err := h.Validate(); err != nil {
			t.Errorf("herd of %d: %v", h.Jobs, err)
		}
		if h.Kind != defaultHerd().Kind {
			t.Errorf("herd of %d: its targets have the kind %q, want %q", h.Jobs, h.Kind, defaultHerd().Kind)
		}
	}
}

func TestSizesAreChecked(t *testing.T) {
	tests := map[string]string{
		"jitter --rate=-1":                      "--rate is -1",
		"jitter --rate 1000000000":              "--rate is 1000000000",
		"jitter --for 1ms":                      "--for is 1ms",
		"jitter --rate 0 --every 0":             "nothing to fire",
		"jitter --rate 200000 --for 1h":         "fires; want at most",
		"put --count 0":                         "--count is 0",
		"put --clients 100000":                  "--clients is 100000",
		"load --count 0":                        "--count is 0",
		"recover --count 99999999999":           "--count is 99999999999",
		"jitter --rate many":                    "--rate",
		"saturate --rates 9,5":                  "rates that rise",
		"scale --armed 100,10":                  "numbers that rise",
		"herd --jobs 0":                         "--jobs is 0",
		"cluster --puts 0":                      "--puts is 0",
		"cluster --load 0":                      "--load is 0",
		"cluster --count=-1":                    "--count is -1",
		"cluster --rate 0":                      "nothing to fire",
		"outage --shards 3":                     "3 shards",
		"outage --shards 4 --nodes 1":           "--nodes is 1",
		"flood --mix dance":                     "--mix must be one of",
		"flood --parallel 3":                    "--parallel is 3",
		"flood --readers 0":                     "--readers is 0",
		"flood --rounds 0":                      "--rounds is 0",
		"rights --rounds 0":                     "--rounds is 0",
		"dance":                                 "unexpected argument",
		"all --binary /nowhere/at/all/carillon": "",
	}
	for args, want := range tests {
		var out, errs bytes.Buffer
		status := Main(Program{Binary: "/nowhere"}, strings.Fields(args), nil, &out, &errs)
		if want == "" {
			if status != 1 || !strings.Contains(errs.String(), "make build") {
				t.Errorf("%s: status %d, %q", args, status, errs.String())
			}
			continue
		}
		if status != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: status %d, want 2; errors %q, want %q", args, status, errs.String(), want)
		}
	}
}

func TestDefaultsAgree(t *testing.T) {
	for _, c := range []interface{ Validate() error }{defaultJitter(), defaultHerd(), defaultPut(), defaultRecover()} {
		if err := c.Validate(); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	}
}

func TestMixIsTheSame(t *testing.T) {
	begin := time.UnixMilli(1_795_000_000_000)
	a, b := mix{7, begin}, mix{7, begin}
	kinds := make(map[byte]int)
	for range 2000 {
		n := rand.IntN(1_000_000)
		x, y := a.job(n), b.job(n)
		if x.Name != y.Name || x.Schedule != y.Schedule || x.Timezone != y.Timezone || !bytes.Equal(x.Payload, y.Payload) {
			t.Fatalf("job %d differs: %+v and %+v", n, x, y)
		}
		if !json.Valid(x.Payload) || len(x.Payload) < 80 || len(x.Payload) > 120 {
			t.Fatalf("the payload of job %d has %d bytes: %s", n, len(x.Payload), x.Payload)
		}
		switch {
		case strings.HasPrefix(x.Schedule, "@"):
			kinds[x.Schedule[1]]++
		default:
			kinds['c']++
		}
	}
	if kinds['a'] < 1000 || kinds['e'] < 250 || kinds['c'] < 250 {
		t.Errorf("the mix is off: %v", kinds)
	}
	if len(payload) != 100 || !json.Valid(payload) {
		t.Errorf("the payload has %d bytes: %s", len(payload), payload)
	}
}

func TestReceipts(t *testing.T) {
	got, err := parseReceipt("1795000000000123 1795000000000 shot-1 abc-1795000000000")
	want := receipt{"shot-1", "abc-1795000000000", time.UnixMilli(1_795_000_000_000), time.UnixMicro(1_795_000_000_000_123)}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "1 2 3", "x 1 job run", "1 x job run", "1 2 job run more"} {
		if _, err := parseReceipt(bad); err == nil {
			t.Errorf("%q was taken for a receipt", bad)
		}
	}
}

func TestResult(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 1: "1", 999: "999", 1000: "1,000", 1234567: "1,234,567", 0.1234: "0.123", -12345: "-12,345", 1234.5: "1,235"} {
		if got := measure.Number(value); got != want {
			t.Errorf("%v is written %q, want %q", value, got, want)
		}
	}
	r := &result{Name: "x", Setting: "as set"}
	r.count("n", "things", 1234)
	r.spread("took", "took", samples{time.Millisecond})
	r.breaks("%d are lost", 3)
	var out bytes.Buffer
	r.print(&out)
	for _, want := range []string{"x: as set", "things", "1,234", "took p99.9", "BROKEN: 3 are lost"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	path := filepath.Join(t.TempDir(), "x.json")
	if err := writeJSON(path, &machine{Machine: measure.Machine{Cores: 2}}, []*result{r}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"took_p50_ms": 1`) || !strings.Contains(string(text), `"3 are lost"`) {
		t.Errorf("the file holds %s, %v", text, err)
	}
	if verdict([]*result{r}) == nil || verdict([]*result{{}}) != nil {
		t.Error("the verdict does not follow what is broken")
	}
}
