package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchTellsChanges: an unchanged state is not printed again, and a failure is reported once and does not end the
// command.
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
			con.printf("%s", markup(look))
			return nil
		})
		if err != nil || out.String() != "a\n\nb\n" || errs.String() != "carillon: away\n" {
			t.Errorf("%v, out %q, errs %q", err, out.String(), errs.String())
		}
	})
}

// TestWatchedRowsAreBounded: a watched list is bounded, because it is held in memory.
func TestWatchedRowsAreBounded(t *testing.T) {
	watched, once := watchFlag{Watch: watchEvery(time.Second)}, watchFlag{}
	for limit, want := range map[int]int{0: watchRowsMax, 5: 5, watchRowsMax + 1: watchRowsMax} {
		if got := watched.rows(limit); got != want || once.rows(limit) != limit {
			t.Errorf("limit %d: %d watched, %d once", limit, got, once.rows(limit))
		}
	}
}
