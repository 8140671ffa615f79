package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestNumbersAreDecimal: each kind of number of a flag or an argument is decimal, alone and in a list.
func TestNumbersAreDecimal(t *testing.T) {
	type numbers struct {
		Whole    int
		Natural  uint64
		Maybe    *uint32
		List     []uint32
		Fraction float64
		Arg      int `arg:"" optional:""`
	}
	for _, test := range []struct {
		args string
		want any // a numbers, or a part of the error
	}{
		{"--whole=-10 --natural=0 --list=0,2 --fraction=0.5 7", numbers{Whole: -10, List: []uint32{0, 2}, Fraction: 0.5, Arg: 7}},
		{"--fraction=.5", numbers{Fraction: 0.5}},
		{"--fraction=1e3", numbers{Fraction: 1000}},
		{"--fraction=-2", numbers{Fraction: -2}},
		{"--whole=010", "--whole: \"010\" is no number; want decimal digits without a leading zero"},
		{"--whole=08", "is no number"},
		{"--whole=-010", "is no number"},
		{"--whole=0x10", "is no number"},
		{"--whole=0b11", "is no number"},
		{"--whole=0o7", "is no number"},
		{"--whole=1_000", "is no number"},
		{"--whole=", "is no number"},
		{"--whole=two", "is no number"},
		{"--whole=99999999999999999999", "expected a valid 64 bit int"},
		{"--natural=00", "is no number"},
		{"--natural=-1", "expected a valid 64 bit uint"},
		{"--maybe=01", "is no number"},
		{"--list=0,01", "is no number"},
		{"--fraction=0x1p-2", "--fraction: \"0x1p-2\" is no number; want decimal digits, such as 0.5"},
		{"--fraction=00.5", "is no number"},
		{"--fraction=NaN", "is no number"},
		{"--fraction=Inf", "is no number"},
		{"--fraction=1_0", "is no number"},
		{"--fraction=", "expected a float"},
		{"010", "is no number"},
	} {
		var got numbers
		parser, err := kong.New(&got, decimalNumbers()...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(strings.Fields(test.args))
		if want, fails := test.want.(string); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", test.args, err, want)
			}
		} else if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, %v", test.args, got, err)
		}
	}
}

// TestMistakesOfFlags are refused with status 2, before a server is asked, and name the flag.
func TestMistakesOfFlags(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--shards", "010"}, `--shards: "010" is no number`},
		{[]string{"job", "list", "--tenant", "a", "--tenant", "b"}, "--tenant is given twice; want it once"},
		{[]string{"job", "list", "--limit=1", "--limit=1"}, "--limit is given twice; want it once"},
		{[]string{"job", "list", "--by", strings.Repeat("x", 129)}, "--by: "},
		{[]string{"job", "list", "--by", "a\tb"}, "--by: "},
		{[]string{"audit", "--from", "2026-01-01", "--from", "2026-01-02"}, "--from is given twice; want it once"},
	} {
		var out, errs bytes.Buffer
		if status := run(test.args, strings.NewReader(""), &out, &errs); status != exitUsage || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%v: status %d, %s", test.args, status, errs.String())
		}
	}
}

// TestDays: a number that is too large is not called none.
func TestDays(t *testing.T) {
	for text, want := range map[string]string{
		"90": "", "90d": "", "36500d": "", "36501d": "more than a hundred years; want at most 36500d",
		"99999999999999999999d": "more than a hundred years", "0d": "is no number of days", "-1": "is no number of days", "090": "is no number of days", "d": "is no number of days", "": "is no number of days",
	} {
		err := new(days).UnmarshalText([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
