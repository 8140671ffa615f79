package scheduler

import (
	"reflect"
	"testing"
	"time"

	"github.com/carillon-io/carillon/histogram"
)

// TestSumLeavesNothingOut: of two statuses in which every count is 1, every count of the sum is 2 or, of what is no count, 1.
// A new field of Status that Sum does not know is found here.
func TestSumLeavesNothingOut(t *testing.T) {
	notSummed := map[string]bool{
		"Shard": true, "Epoch": true, "RowsVersion": true, "Behind": true, "ClockBehind": true, "ReportWaited": true, "CatchUp.Left": true,
		"Zones.Digest": true, "Zones.Count": true, "Zones.Differs": true, "Zones.Changed": true,
	}
	var one Status
	fillOnes(reflect.ValueOf(&one).Elem())
	sum := Sum([]Status{one, one})
	eachNumber("", reflect.ValueOf(sum), func(name string, n float64) {
		want := 2.0
		if notSummed[name] {
			want = 1
		}
		if n != want {
			t.Errorf("%s is %v, want %v", name, n, want)
		}
	})
}

// fillOnes sets the numbers of a status to 1, apart from those of distributions.
func fillOnes(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[Lateness](), v.Type() == reflect.TypeFor[time.Time](), v.Type() == reflect.TypeFor[histogram.Reading]():
	case v.Kind() == reflect.Struct:
		for _, field := range v.Fields() {
			fillOnes(field)
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fillOnes(v.Index(i))
		}
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(1)
	}
}

// eachNumber calls f with the numbers that fillOnes sets.
func eachNumber(name string, v reflect.Value, f func(name string, n float64)) {
	switch {
	case v.Type() == reflect.TypeFor[Lateness](), v.Type() == reflect.TypeFor[time.Time](), v.Type() == reflect.TypeFor[histogram.Reading]():
	case v.Kind() == reflect.Struct:
		for field, value := range v.Fields() {
			path := field.Name
			if name != "" {
				path = name + "." + path
			}
			eachNumber(path, value, f)
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			eachNumber(name, v.Index(i), f)
		}
	case v.CanInt():
		f(name, float64(v.Int()))
	case v.CanUint():
		f(name, float64(v.Uint()))
	case v.CanFloat():
		f(name, v.Float())
	}
}

// TestSumOfTimes: quantiles are those of all values, ages the largest, and one leader makes a leader.
func TestSumOfTimes(t *testing.T) {
	status := func(role string, late ...time.Duration) (s Status) {
		var h histogram.Times
		for _, d := range late {
			h.Record(d)
		}
		s.Role, s.Behind, s.StartedAt = role, late[0], time.Unix(int64(len(late)), 0)
		s.Lateness, s.DecisionLateness, s.CommitTime = latenessOf(&h), latenessOf(&h), latenessOf(&h)
		return s
	}
	sum := Sum([]Status{status("standby", time.Millisecond, 2*time.Millisecond), status("leader", time.Second, time.Second, time.Second), status("standby", time.Minute)})
	if l := sum.Lateness; l.Count != 6 || l.Max != time.Minute || l.P50 < time.Second || l.P50 > 2*time.Second || l.Sum != 63*time.Second+3*time.Millisecond {
		t.Errorf("the lateness of all is %+v", l)
	}
	if sum.Role != "leader" || sum.Behind != time.Minute || sum.StartedAt != time.Unix(1, 0) || sum.DecisionLateness.Count != 6 || sum.CommitTime.Count != 6 {
		t.Errorf("%+v", sum)
	}
	if none := Sum(nil); !reflect.DeepEqual(none, Status{}) {
		t.Errorf("of no engine: %+v", none)
	}
}
