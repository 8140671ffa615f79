package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tokenInArgs is a token on a command line: a flag with a value. `--token` alone names the flag.
var tokenInArgs = regexp.MustCompile(`--token[ =]["'$]?[A-Za-z0-9_{<]`)

// TestNoTokenOnCommandLines: what is recommended, in help texts and documents, shows no token to other users.
func TestNoTokenOnCommandLines(t *testing.T) {
	texts := map[string]string{}
	for _, node := range commandsOf(testParser(t).Model.Node) {
		texts[node.Path()] = node.Detail
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root:
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".md", ".yaml", ".yml", ".service", ".sh"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil || len(texts) < 80 {
		t.Fatalf("%d texts, %v; the walk is broken", len(texts), err)
	}
	for where, text := range texts {
		for line := range strings.Lines(text) {
			if tokenInArgs.MatchString(line) && !strings.Contains(line, "`--token` ") {
				t.Errorf("%s shows a token on a command line: %s", where, line)
			}
		}
	}
}
