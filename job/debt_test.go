package job

import (
	"reflect"
	"testing"

	"github.com/carillon-io/carillon/instant"
)

// TestOldDebt reads what the first releases wrote: ticks of the schedule between two of them, or one by itself,
// which this build writes in the same way.
func TestOldDebt(t *testing.T) {
	got, err := DecodeDebt(unhex(t, "010180e0e78edb66c089ef8edb66"))
	want := Debt{From: 1764576000000, Last: 1764576060000, Step: byScheduleStep}
	if err != nil || len(got) != 1 || got[0] != want || !got[0].IsBySchedule() || !got[0].Has(1764576000001) || got[0].Ticks() != 0 {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	one := []Debt{{From: 1764576000000, Last: 1764576000000}}
	row := appendDebts(nil, one)
	if got, err := DecodeDebt(row); err != nil || row[0] != rowVersion || !reflect.DeepEqual(got, one) {
		t.Errorf("%x is %+v (%v), want %+v", row, got, err, one)
	}
}

// TestDebtListsItsTicks adds ticks one by one and takes them out again.
func TestDebtListsItsTicks(t *testing.T) {
	ticks := []instant.Millis{10, 20, 30, 35, 40, 100, 1000}
	var list []Debt
	for i, at := range ticks {
		list = AddDebt(list, at, at != 100 && i > 0)
	}
	want := []Debt{{From: 10, Last: 30, Step: 10}, {From: 35, Last: 40, Step: 5, Joined: true}, {From: 100, Last: 1000, Step: 900}}
	if !reflect.DeepEqual(list, want) {
		t.Fatalf("got %+v, want %+v", list, want)
	}
	if back, err := DecodeDebt(appendDebts(nil, list)); err != nil || !reflect.DeepEqual(back, list) {
		t.Errorf("read back as %+v (%v)", back, err)
	}
	for i, at := range ticks {
		if list[0].From != at || !list[0].Has(at) || list[0].Has(at+1) {
			t.Errorf("tick %d: got %+v, want %d first", i, list, at)
		}
		if rest, some := list[0].Rest(); some {
			list[0] = rest
		} else {
			list = list[1:]
		}
	}
	if len(list) != 0 {
		t.Errorf("left are %+v", list)
	}
}

// TestBadDebt refuses rows that would have more ticks than a job may owe, or none.
func TestBadDebt(t *testing.T) {
	for _, row := range []string{"02010002", "0201d20f0202", "020104020100", "0201040202ff"} {
		if got, err := DecodeDebt(unhex(t, row)); err == nil {
			t.Errorf("%s is read as %+v, want an error", row, got)
		}
	}
}
