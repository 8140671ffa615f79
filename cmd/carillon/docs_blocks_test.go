package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docBlock is a block of commands in a page.
type docBlock struct {
	page string // as README.md or docs/cli.md
	line int    // of its first command, from 1
	text string // without the indentation
	// output is the block of text or JSON that follows with nothing between; "": none does.
	output string
}

// head returns the first line of a block, by which the tables name it: line numbers change with each edit of a page.
func (b *docBlock) head() string { return cutRemark(b.text) }

// cutRemark returns the first line of a text without the remark at its end.
func cutRemark(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	first, _, _ = strings.Cut(first, "   ")
	return strings.TrimSpace(first)
}

// docPagesAll returns the text of each page whose commands readers follow, by its name.
func docPagesAll(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	pages := make(map[string]string)
	for _, from := range []string{"README.md", "CONTRIBUTING.md", "docs", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, from), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err == nil && entry.IsDir() && entry.Name() == "node_modules": // what the examples install
				return filepath.SkipDir
			case err != nil || entry.IsDir() || filepath.Ext(path) != ".md":
				return err
			}
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			pages[filepath.ToSlash(name)] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(pages) < 80 {
		t.Fatalf("only %d pages; the walk is broken", len(pages))
	}
	return pages
}

// docFence is the line that begins or ends a fenced block: its indentation and its language.
var docFence = regexp.MustCompile("^( *)```(\\S*)$")

// docBlocksOf returns the blocks of commands of a page, in order, and its other lines. A block is one of commands if it is
// indented, or if its fence names no language or sh: output, and text in other languages, is in a fence that says so.
func docBlocksOf(page, text string) (blocks []docBlock, prose []string) {
	lines := strings.Split(text, "\n")
	after := -1 // line after the latest block of commands, past empty ones
	add := func(i, end, next int) {
		blocks = append(blocks, docBlock{page: page, line: i + 1, text: unindent(lines[i:end])})
		for after = next; after < len(lines) && strings.TrimSpace(lines[after]) == ""; after++ {
		}
	}
	for i := 0; i < len(lines); i++ {
		if fence := docFence.FindStringSubmatch(lines[i]); fence != nil {
			end := i + 1
			for end < len(lines)-1 && docFence.FindStringSubmatch(lines[end]) == nil {
				end++
			}
			switch {
			case fence[2] == "" || fence[2] == "sh":
				add(i+1, end, end+1)
			case i == after && (fence[2] == "text" || fence[2] == "json"):
				blocks[len(blocks)-1].output = unindent(lines[i+1 : end])
			}
			i = end
			continue
		}
		if end := indentedUntil(lines, i); end > i {
			add(i, end, end)
			i = end - 1
			continue
		}
		prose = append(prose, lines[i])
	}
	return blocks, prose
}

// indentedUntil returns the line after an indented block that begins at a line, or that line if none begins there.
func indentedUntil(lines []string, i int) int {
	isCode := func(i int) bool { return i < len(lines) && strings.HasPrefix(lines[i], "    ") }
	if !isCode(i) || i > 0 && strings.TrimSpace(lines[i-1]) != "" {
		return i
	}
	for isCode(i) || i < len(lines) && strings.TrimSpace(lines[i]) == "" && isCode(i+1) {
		i++
	}
	return i
}

// unindent returns lines as a text, without the blanks that all of them begin with.
func unindent(lines []string) string {
	least := -1
	for _, line := range lines {
		if blanks := len(line) - len(strings.TrimLeft(line, " ")); blanks < len(line) && (least < 0 || blanks < least) {
			least = blanks
		}
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line[min(max(least, 0), len(line)):] + "\n")
	}
	return b.String()
}

// TestDocBlocks: which lines of a page are commands.
func TestDocBlocks(t *testing.T) {
	page := "# Page\n\n```\none\n  two\n```\n\n```json\n{}\n```\n\n```json\nother\n```\n\n1. item\n   more\n\n       three\n\n       four\n\n- item\n\n    five   # remark\nsix\n\n```sh\nseven\n```\n"
	blocks, prose := docBlocksOf("p", page)
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.text)
	}
	if got, want := strings.Join(texts, "|"), "one\n  two\n|three\n\nfour\n|five   # remark\n|seven\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if blocks[2].head() != "five" || blocks[2].line != 25 || blocks[0].output != "{}\n" {
		t.Errorf("got %q at %d", blocks[2].head(), blocks[2].line)
	}
	if text := strings.Join(prose, "\n"); strings.Contains(text, "{}") || !strings.Contains(text, "six") {
		t.Errorf("the prose is %q", text)
	}
}
