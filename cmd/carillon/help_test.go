package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/carillon-io/carillon/testkit"
)

// testParser returns a parser of the whole command line.
func testParser(t *testing.T) *kong.Kong {
	t.Helper()
	parser, err := newParser(&cli{}, &console{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// TestHelpTeachesByExample walks all commands: each has a help text and examples, and each example is a
// command line that the parser takes.
func TestHelpTeachesByExample(t *testing.T) {
	testkit.NotUnderRace(t, "one goroutine makes a parser for each of 300 lines")
	parser := testParser(t)
	all := commandsOf(parser.Model.Node)
	if len(all) < 40 {
		t.Fatalf("only %d commands; the walk is broken", len(all))
	}
	for _, node := range all {
		if !strings.HasSuffix(node.Help, ".") {
			t.Errorf("%s: its help %q is no sentence", node.Path(), node.Help)
		}
		lines := examplesOf(t, node.Detail)
		if !slices.ContainsFunc(lines, func(words []string) bool { return hasWords(words, node.Path()) }) {
			// A default command has the examples of its parent, which call it by the parent's name.
			if node.Parent.DefaultCmd != node {
				t.Errorf("%s: no example shows it", node.Path())
			}
		}
		for _, words := range lines {
			if _, err := testParser(t).Parse(words[1:]); err != nil {
				t.Errorf("%s: the example %q does not parse: %v", node.Path(), strings.Join(words, " "), err)
			}
		}
	}
}

// hasWords reports whether a command line contains a command.
func hasWords(words []string, path string) bool {
	want := strings.Fields(path)
	return len(words) > len(want) && slices.Equal(words[1:1+len(want)], want)
}

// examplesOf returns the calls of carillon in the examples of a help text.
func examplesOf(t *testing.T, detail string) (calls [][]string) {
	t.Helper()
	for line := range strings.Lines(detail) {
		example, found := strings.CutPrefix(line, "  ")
		if !found || !strings.Contains(example, "carillon ") {
			continue
		}
		example, _, _ = strings.Cut(example, "   ") // without the remark behind it
		for _, words := range shellCalls(example) {
			if words[0] == "carillon" {
				calls = append(calls, words)
			}
		}
	}
	return calls
}

// shellCalls splits a line as a shell does, as far as examples need it: quotes, pipes and redirections.
func shellCalls(line string) (calls [][]string) {
	var words []string
	var word strings.Builder
	inWord, skip, quote := false, false, rune(0)
	end := func() {
		if inWord && !skip {
			words = append(words, word.String())
		}
		skip = skip && !inWord
		word.Reset()
		inWord = false
	}
	for _, r := range strings.TrimSpace(line) + "|" {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && r == '\'':
			quote, inWord = r, true
		case quote != 0:
			word.WriteRune(r)
		case r == ' ':
			end()
		case r == '<' || r == '>':
			end()
			skip = true
		case r == '|':
			end()
			calls, words = append(calls, words), nil
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	return calls
}

// TestFlagsOfServeHaveVariables: every flag of serve has a variable, because a container is configured by its environment.
func TestFlagsOfServeHaveVariables(t *testing.T) {
	for _, node := range testParser(t).Model.Children {
		if node.Name != "serve" {
			continue
		}
		for _, flag := range node.Flags {
			want := "CARILLON_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
			if !slices.Equal(flag.Envs, []string{want}) {
				t.Errorf("--%s has the variables %v; want %s", flag.Name, flag.Envs, want)
			}
		}
		if len(node.Flags) < 20 {
			t.Errorf("only %d flags; the walk is broken", len(node.Flags))
		}
	}
}
