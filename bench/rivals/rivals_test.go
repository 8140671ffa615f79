package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// TestMain lets the test program stand in for the real one, which starts itself again to receive.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"receive", "nats", "bare"}, os.Args[1]) {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestNearestRank(t *testing.T) {
	var s samples
	for i := range 1000 {
		s = append(s, time.Duration(1000-i)*time.Millisecond)
	}
	var r result
	r.spread("late", "late", s)
	want := []float64{1, 500, 990, 999, 1000}
	for i, f := range r.Figures {
		if f.Value != want[i] {
			t.Errorf("%s of 1 to 1000 is %v, want %v", f.Key, f.Value, want[i])
		}
	}
	for _, rank := range ranks {
		if got := (samples{}).at(rank.per100k); got != 0 {
			t.Errorf("%s of nothing is %s", rank.label, got)
		}
		if got := (samples{7}).at(rank.per100k); got != 7 {
			t.Errorf("%s of one 7 is %d", rank.label, got)
		}
	}
}

func TestJudge(t *testing.T) {
	first := time.UnixMilli(1_795_000_000_000)
	f := firing{count: 4, step: 10 * time.Millisecond}
	jobs := f.jobs(first)
	clean := func() (all []receipt) {
		for _, j := range jobs {
			all = append(all, receipt{j.number, j.due.Add(time.Millisecond)})
		}
		return all
	}
	tests := map[string]struct {
		bend  func([]receipt) []receipt
		until time.Duration // after the first is due; 0 is to the end
		want  tally         // its counts
	}{
		"clean":    {func(r []receipt) []receipt { return r }, 0, tally{due: 4}},
		"lost":     {func(r []receipt) []receipt { return r[1:] }, 0, tally{due: 4, missing: 1}},
		"all lost": {func([]receipt) []receipt { return nil }, 0, tally{due: 4, missing: 4}},
		"doubled":  {func(r []receipt) []receipt { return append(r, r[2], r[2]) }, 0, tally{due: 4, doubled: 2}},
		"early": {func(r []receipt) []receipt {
			r[1].arrived = jobs[1].due.Add(-time.Nanosecond)
			return r
		}, 0, tally{due: 4, early: 1}},
		"of nobody":    {func(r []receipt) []receipt { return append(r, receipt{99, first}) }, 0, tally{due: 4, strange: 1}},
		"cut off":      {func(r []receipt) []receipt { return r[:2] }, 15 * time.Millisecond, tally{due: 2}},
		"cut off late": {func(r []receipt) []receipt { return r[:3] }, 15 * time.Millisecond, tally{due: 2}},
		"cut off, and early": {func(r []receipt) []receipt {
			r[3].arrived = first
			return r
		}, 15 * time.Millisecond, tally{due: 2, early: 1}},
		"cut off, and lost": {func(r []receipt) []receipt { return r[:1] }, 15 * time.Millisecond, tally{due: 2, missing: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			until := jobs[len(jobs)-1].due
			if tt.until > 0 {
				until = first.Add(tt.until)
			}
			got := judge(jobs, tt.bend(clean()), until)
			if len(got.lateness) != tt.want.due-tt.want.missing {
				t.Errorf("%d count, want %d", len(got.lateness), tt.want.due-tt.want.missing)
			}
			got.lateness, got.last = nil, time.Time{}
			if got.due != tt.want.due || got.early != tt.want.early || got.missing != tt.want.missing ||
				got.doubled != tt.want.doubled || got.strange != tt.want.strange {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			isWrong := got.early+got.missing+got.doubled+got.strange > 0
			var ours, theirs result
			got.tell(&ours, true)
			got.tell(&theirs, false)
			if isWrong != (len(ours.Broken) > 0) || isWrong != (len(theirs.Notes) > 0) || len(theirs.Broken) > 0 {
				t.Errorf("ours breaks %q; theirs breaks %q and notes %q", ours.Broken, theirs.Broken, theirs.Notes)
			}
		})
	}
}

// A late first arrival is not what a second, earlier one of the same job says.
func TestJudgeTakesTheFirstArrival(t *testing.T) {
	due := time.UnixMilli(1_795_000_000_000)
	got := judge([]job{{1, due}}, []receipt{{1, due.Add(9)}, {1, due.Add(3)}}, due)
	if len(got.lateness) != 1 || got.lateness[0] != 3 || got.doubled != 1 {
		t.Errorf("got %+v, want one lateness of 3 ns and one doubled", got)
	}
}

func TestCommandLine(t *testing.T) {
	tests := map[string]string{ // by what must be in the error
		"--rivals=carillon,dkron":        `"dkron"`,
		"--rivals=carillon,carillon":     "twice",
		"--workloads=firing,nothing":     `"nothing"`,
		"--rate=0":                       "--rate is 0",
		"--rate=50000 --for=1h":          "--rate times --for",
		"--for=1ms":                      "--for is 1ms",
		"--herd=0":                       "--herd is 0",
		"--armed=-1":                     "--armed is -1",
		"--clients=5000":                 "--clients is 5000",
		"--rivals=asynq,carillon":        "",
		"--workloads=herd --rivals=nats": "",
	}
	for line, want := range tests {
		_, err := parseRivals(t, strings.Fields(line)...)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", line, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q in it", line, err, want)
		}
	}
	c, err := parseRivals(t)
	if err != nil || !slices.Equal(c.Rivals, rivalNames) || !slices.Equal(c.Workloads, workloadNames) {
		t.Errorf("the defaults are %+v, %v", c, err)
	}
	if f := c.firing(); f.count != 20_000 || f.step != time.Millisecond || f.armed != 100_000 {
		t.Errorf("the default is to fire %+v", f)
	}
	if status := run([]string{"rivals", "--rate=0"}); status != 2 {
		t.Errorf("the status of bad usage is %d, want 2", status)
	}
}

func TestModesHaveNamesOfTheirOwn(t *testing.T) {
	seen := make(map[string]bool)
	for i, m := range new(rivalsCmd).modes() {
		if seen[m.name] || !slices.Contains(rivalNames, m.rival) || m.setting == "" {
			t.Errorf("mode %d is %q of %q: %q", i, m.name, m.rival, m.setting)
		}
		seen[m.name] = true
	}
}

func TestPayload(t *testing.T) {
	for _, number := range []int{0, 7, 123_456, farNumber + 12} {
		payload := job{number: number}.payload()
		encoded, err := json.Marshal(job{number: number}.args())
		if err != nil || string(encoded) != string(payload) || len(payload) != payloadBytes {
			t.Errorf("the payload of %d is %s, as JSON %s, %v", number, payload, encoded, err)
		}
		if got, err := numberOf(payload); err != nil || got != number {
			t.Errorf("the number of %s is %d, %v", payload, got, err)
		}
	}
	for _, bad := range []string{"", "{}", `{"n":}`, `{"n":12}`, `{"n":x,"pad":""}`} {
		if _, err := numberOf([]byte(bad)); err == nil {
			t.Errorf("%q was taken for a payload", bad)
		}
	}
}

func TestReceipts(t *testing.T) {
	var a arrivals
	at := time.Unix(1_795_000_000, 123)
	a.add(at, job{number: 42}.payload())
	a.addNumber(at, 43)
	var out strings.Builder
	if err := a.tell(&out); err != nil || a.count() != 2 {
		t.Fatalf("%d arrivals, %v", a.count(), err)
	}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if got, err := parseReceipt(line); err != nil || got.number != 42+i || !got.arrived.Equal(at) {
			t.Errorf("%q is %+v, %v", line, got, err)
		}
	}
	for _, bad := range []string{"", "1", "x 1", "1 x", "1 2 3"} {
		if _, err := parseReceipt(bad); err == nil {
			t.Errorf("%q was taken for a receipt", bad)
		}
	}
	if a.add(at, []byte("what")); a.tell(&out) == nil {
		t.Error("a payload that says nothing was passed over")
	}
}

func TestParseStat(t *testing.T) {
	const stat = "12 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0 1"
	if got := parseStat(stat); got != 127*measure.ProcTick {
		t.Errorf("got %s, want %s", got, 127*measure.ProcTick)
	}
	if got := parseStat("nothing"); got != 0 {
		t.Errorf("nothing took %s", got)
	}
}

func TestReport(t *testing.T) {
	var out strings.Builder
	r := &report{ctx: t.Context(), out: &out}
	for name, late := range map[string]float64{bareName: 1, "carillon": 2, "nats": 8} {
		one := result{Name: "firing/" + name, Setting: "as set"}
		one.figure("lateness_p99_ms", "lateness p99", late, "ms")
		r.add(one)
	}
	modes := []mode{{name: bareName}, {name: "carillon"}, {name: "nats"}, {name: "river"}}
	out.Reset()
	printTables(r, modes)
	for i, want := range map[int]map[string]float64{ // by place from the end
		1: {bareName + "_firing_lateness_p99_ms": 0.5, "nats_firing_lateness_p99_ms": 4},
		2: {"carillon_firing_lateness_p99_ms": 2, "nats_firing_lateness_p99_ms": 8},
	} {
		ratios := r.results[len(r.results)-i]
		for key, value := range want {
			if ratio, ok := ratios.value(key); !ok || ratio != value || len(ratios.Figures) != len(want) {
				t.Errorf("%s: %s is %v, %v; want %v", ratios.Name, key, ratio, ok, value)
			}
		}
	}
	if strings.Contains(out.String(), "river") || !strings.Contains(out.String(), "nats") {
		t.Errorf("the table shows the wrong ones:\n%s", &out)
	}
	path := filepath.Join(t.TempDir(), "x.json")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"key": "lateness_p99_ms"`) {
		t.Errorf("the file holds %s, %v", text, err)
	}
	if r.verdict() != nil {
		t.Error("nothing was broken")
	}
	if r.add(result{Broken: []string{"lost"}}); r.verdict() == nil {
		t.Error("what is broken does not show")
	}
}
