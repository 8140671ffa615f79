package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestDocTablesAreUsed: each entry of the tables is about a command that stands in its page.
func TestDocTablesAreUsed(t *testing.T) {
	heads, lines := make(map[string][]string), make(map[string][]string)
	pages := docPagesAll(t)
	for page, text := range pages {
		blocks, _ := docBlocksOf(page, text)
		for _, block := range blocks {
			heads[page] = append(heads[page], block.head())
			for line := range strings.Lines(block.text) {
				lines[page] = append(lines[page], cutRemark(line))
			}
		}
	}
	for _, table := range []struct {
		entries map[string]map[string]string
		stands  map[string][]string
	}{{docBlocksNotRun, heads}, {docLinesNotRun, lines}, {docLinesThatFail, lines}} {
		for page, entries := range table.entries {
			for command := range entries {
				if !slices.Contains(table.stands[page], command) {
					t.Errorf("%s has no command %q any more: remove it from the table", page, command)
				}
			}
		}
	}
	for page, needs := range docPages {
		for i := 0; i < len(needs.replace); i += 2 {
			if !strings.Contains(pages[page], needs.replace[i]) {
				t.Errorf("%s has no %q to replace any more", page, needs.replace[i])
			}
		}
	}
}

// docInline is a command in a sentence or a table.
var docInline = regexp.MustCompile("`(?:\\./bin/)?(carillon [^`]*)`")

// docBefore is a word that may stand before a command: a prompt, a variable, and words of the shell.
var docBefore = regexp.MustCompile(`^(\$|[A-Z_]+=.*|&&?|do|then|1|.*;)$`)

// TestDocCommandsExist: each command of a page, in a block, a sentence or a table, run or not, is one of the program, and
// so is each of its flags.
func TestDocCommandsExist(t *testing.T) {
	root, checked := testParser(t).Model.Node, 0
	for page, text := range docPagesAll(t) {
		if page == "docs/bugs.md" || strings.HasPrefix(page, "docs/adr/") {
			continue // they are about earlier releases
		}
		blocks, prose := docBlocksOf(page, text)
		var calls [][]string
		for _, block := range blocks {
			for line := range strings.Lines(strings.ReplaceAll(docCommands(block.text), "\\\n", " ")) {
				line, _, _ = strings.Cut(line, "#")
				calls = append(calls, shellCalls(line)...)
			}
		}
		if strings.HasPrefix(page, "docs/format/") {
			prose = nil // the texts there are also those of files and subjects
		}
		for _, found := range docInline.FindAllStringSubmatch(strings.Join(prose, "\n"), -1) {
			calls = append(calls, strings.Fields(found[1]))
		}
		for _, call := range calls {
			for i, word := range call {
				if strings.TrimPrefix(word, "./bin/") != "carillon" || i > 0 && !docBefore.MatchString(call[i-1]) {
					continue
				}
				checked++
				if err := checkCall(root, call[i+1:]); err != nil {
					t.Errorf("%s: carillon %s: %v", page, strings.Join(call[i+1:], " "), err)
				}
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d commands; the search is broken", checked)
	}
}

// docPlaceholder is a word in place of a command: COMMAND, NAME…, or …
var docPlaceholder = regexp.MustCompile(`^(\[?[A-Z]|…)`)

// checkCall reports the first word of a call that is neither a command nor a flag of the program. The harness of the
// benchmarks has flags of its own.
func checkCall(root *kong.Node, words []string) error {
	l := &line{node: root}
	for _, word := range words {
		if l.node.Name == "bench" || word == "|" || word == "&" || word == "&&" {
			return nil
		}
		isFlag := l.value == nil && !l.rest && strings.HasPrefix(word, "-") && word != "-" && word != "--"
		if flag, _, _ := l.flag(word); isFlag && flag == nil && !slices.Contains([]string{"--help", "--version", "-v"}, word) {
			return fmt.Errorf("there is no flag %s", word)
		}
		before := l.node
		isArgument := l.value == nil && !isFlag
		l.read(word)
		if isArgument && l.node == before && len(before.Children) > 0 && before.DefaultCmd == nil && !docPlaceholder.MatchString(word) && l.args == 1 {
			return fmt.Errorf("there is no command %s", word)
		}
	}
	return nil
}
