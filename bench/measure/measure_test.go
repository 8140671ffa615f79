package measure

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestFsync: an fsync takes time, and is measured as often as is said.
func TestFsync(t *testing.T) {
	all, err := Fsync(t.TempDir())
	if err != nil || len(all) != FsyncProbes {
		t.Fatalf("%d times, %v", len(all), err)
	}
	slices.Sort(all)
	if Percentile(all, 50_000) <= 0 {
		t.Error("an fsync took no time")
	}
}

// TestPercentile: percentiles are the samples themselves, by nearest rank.
func TestPercentile(t *testing.T) {
	all := make([]time.Duration, 200)
	for i := range all {
		all[i] = time.Duration(i + 1)
	}
	for per100k, want := range map[int]time.Duration{0: 1, 50_000: 100, 99_000: 198, 99_900: 200, 100_000: 200} {
		if got := Percentile(all, per100k); got != want {
			t.Errorf("at %d of 100,000: %d, want %d", per100k, got, want)
		}
	}
	if Percentile(nil, 50_000) != 0 {
		t.Error("the median of nothing is not 0")
	}
}

// TestNumber: large numbers are whole and in groups, small ones have three decimals unless they are whole.
func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 1.5: "1.500", 999.9996: "1000.000", 1000.4: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := Number(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

// TestDescribe: a description has what every machine has.
func TestDescribe(t *testing.T) {
	if m := Describe(t.TempDir()); m.Cores != runtime.NumCPU() || m.Go != runtime.Version() || m.CPU == "" || m.FileSystem == "" {
		t.Errorf("got %+v", m)
	}
}
