package terminal_test

import (
	"bytes"
	"testing"

	"github.com/carillon-io/carillon/terminal"
)

// TestScreenOfPipe: a pipe has colours only if they are asked for, whatever the environment says, and no size.
func TestScreenOfPipe(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	for _, noColour := range []string{"", "1"} {
		t.Setenv("NO_COLOR", noColour)
		for choice, want := range map[terminal.Colours]terminal.Screen{
			terminal.ColoursAuto: {}, "": {}, terminal.ColoursAlways: {Colour: true}, terminal.ColoursNever: {},
		} {
			if got := terminal.ScreenOf(&bytes.Buffer{}, choice); got != want {
				t.Errorf("%q: %+v; want %+v", choice, got, want)
			}
		}
	}
}

func TestPaint(t *testing.T) {
	for _, c := range []struct {
		screen terminal.Screen
		style  terminal.Style
		text   string
		want   string
	}{
		{terminal.Screen{}, terminal.Red, "a", "a"},
		{terminal.Screen{Colour: true}, terminal.Red, "a", "\x1b[31ma\x1b[0m"},
		{terminal.Screen{Colour: true}, terminal.Plain, "a", "a"},
		{terminal.Screen{Colour: true}, terminal.Red, "", ""},
	} {
		if got := c.screen.Paint(c.style, c.text); got != c.want {
			t.Errorf("%+v, style %q: %q; want %q", c.screen, c.style, got, c.want)
		}
	}
}
