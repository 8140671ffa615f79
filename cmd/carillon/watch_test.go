package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchTellsChanges: a state that is the same is not printed again, a failure is told once and does
// not end it.
func TestWatchTellsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, errs bytes.Buffer
		con := &console{out: &out, err: &errs}
		looks := []string{"a\n", "a\n", "!", "!", "a\n", "b\n"}
		ctx, cancel := context.WithCancel(t.Context())
		flag := watchFlag{Watch: watchEvery(time.Second)}
		err := flag.look(ctx, con, formTable, func(con *console) error {
			look := looks[0]
			if looks = looks[1:]; len(looks) == 0 {
				time.AfterFunc(time.Millisecond, cancel)
			}
			if look == "!" {
				return errors.New("away")
			}
			con.printf("%s", look)
			return nil
		})
		if err != nil || out.String() != "a\n\nb\n" || errs.String() != "carillon: away\n" {
			t.Errorf("%v, out %q, errs %q", err, out.String(), errs.String())
		}
	})
}

// TestScreenText: a state that is higher than the screen is cut, and says so.
func TestScreenText(t *testing.T) {
	state := []byte("1\n2\n3\n4\n5\n")
	for height, want := range map[int]string{
		0: "1 2 3 4 5  note", 7: "1 2 3 4 5  note", 6: "1 2 3 4  1 more lines; note", 1: "1  4 more lines; note",
	} {
		text := screenText(state, "note", height)
		for _, code := range []string{screenHome, screenEnd, "\x1b[K"} {
			text = strings.ReplaceAll(text, code, "")
		}
		if got := strings.ReplaceAll(text, "\n", " "); got != want {
			t.Errorf("height %d: %q; want %q", height, got, want)
		}
	}
}

// TestWatchedRowsAreBounded: a list that is watched is held in memory.
func TestWatchedRowsAreBounded(t *testing.T) {
	watched, once := watchFlag{Watch: watchEvery(time.Second)}, watchFlag{}
	for limit, want := range map[int]int{0: watchRowsMax, 5: 5, watchRowsMax + 1: watchRowsMax} {
		if got := watched.rows(limit); got != want || once.rows(limit) != limit {
			t.Errorf("limit %d: %d watched, %d once", limit, got, once.rows(limit))
		}
	}
}
