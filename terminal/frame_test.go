package terminal_test

import (
	"strings"
	"testing"

	"github.com/carillon-io/carillon/terminal"
)

// TestFrame: a text that is higher than the screen is cut, and the note says by how much.
func TestFrame(t *testing.T) {
	text := []byte("1\n2\n3\n4\n5\n")
	for height, want := range map[int]string{
		0: "1 2 3 4 5  note", 7: "1 2 3 4 5  note", 6: "1 2 3 4  1 more lines; note", 1: "1  4 more lines; note",
	} {
		frame := terminal.Frame(text, "note", height)
		for _, code := range []string{"\x1b[H", "\x1b[J", "\x1b[K"} {
			frame = strings.ReplaceAll(frame, code, "")
		}
		if got := strings.ReplaceAll(frame, "\n", " "); got != want {
			t.Errorf("height %d: %q; want %q", height, got, want)
		}
	}
}

// TestFrameDrawsOver: nothing of a longer text remains beside or below a shorter one.
func TestFrameDrawsOver(t *testing.T) {
	if got, want := terminal.Frame([]byte("a\nb\n"), "note", 0), "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[K\nnote\x1b[K\x1b[J"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}
