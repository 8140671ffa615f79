package client

import (
	"errors"
	"testing"
)

// TestPagesEnd lists from a server that gives the same cursor again: the list ends with an error, after what came.
func TestPagesEnd(t *testing.T) {
	calls := 0
	var got []int
	var end error
	for n, err := range pages("", func(string) ([]int, string, error) { calls++; return []int{calls}, "here", nil }) {
		if err != nil {
			end = err
			continue
		}
		got = append(got, n)
	}
	if len(got) != 2 || calls != 2 || !errors.Is(end, errCursorStays) {
		t.Errorf("%v of %d pages, error %v", got, calls, end)
	}
}
