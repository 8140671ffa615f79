package transfer

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestReadPieces: the pieces of each file add up to it, and a piece outside of a file is refused.
func TestReadPieces(t *testing.T) {
	content := map[string][]byte{"b": bytes.Repeat([]byte("0123456789"), 25), "a/c": []byte("x"), "empty": nil}
	s, export, _ := sessionsIn(t, testOptions, content)
	n := mustMake(t, s, export)
	if !strings.HasPrefix(n.Name, testOptions.Prefix) || n.Info != 7 {
		t.Errorf("the session is %q, %d", n.Name, n.Info)
	}
	if want := []File{{"a/c", 1}, {"b", 250}, {"empty", 0}}; !slices.Equal(n.Files, want) {
		t.Fatalf("the files are %v, want %v", n.Files, want)
	}
	for i, f := range n.Files {
		var got []byte
		for int64(len(got)) < f.Size {
			piece, err := n.Read(i, int64(len(got)), 100)
			if err != nil || len(piece) == 0 || len(piece) > 100 {
				t.Fatalf("%s at %d: %d bytes, %v", f.Name, len(got), len(piece), err)
			}
			got = append(got, piece...)
		}
		if !bytes.Equal(got, content[f.Name]) {
			t.Errorf("%s is %q", f.Name, got)
		}
	}
	for _, at := range []struct {
		file   int
		offset int64
	}{{-1, 0}, {3, 0}, {1, -1}, {1, 250}, {1, 1 << 60}, {2, 0}} {
		if piece, err := n.Read(at.file, at.offset, 100); !errors.Is(err, ErrNoPiece) {
			t.Errorf("%+v gave %d bytes, %v", at, len(piece), err)
		}
	}
	for _, most := range []int64{0, -2048} { // as with a server of NATS that takes only tiny messages
		if _, err := n.Read(1, 0, most); err == nil {
			t.Errorf("a piece of %d bytes was read", most)
		}
	}
}
