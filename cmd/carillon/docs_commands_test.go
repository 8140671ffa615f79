package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestPageNamesEachCommand: the table of commands in docs/cli.md has each command of the program, but for those of bench, and
// no other. A row has commands as `job put`, `get`: what is no command by itself is one of the group before it.
func TestPageNamesEachCommand(t *testing.T) {
	parser := testParser(t)
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := make(map[string]bool)
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(line, "|")
		if strings.HasPrefix(line, "## Which server") {
			break
		}
		if len(cells) < 4 {
			continue
		}
		group := ""
		for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(cells[1], -1) {
			words := strings.Fields(strings.Trim(quoted, "`"))
			isOfGroup := len(words) == 1 && !slices.ContainsFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == words[0] })
			switch {
			case isOfGroup:
				documented[group+" "+words[0]] = true
			default:
				group = words[0]
				documented[strings.Join(words, " ")] = true
			}
		}
	}
	for _, node := range commandsOf(parser.Model.Node) {
		if len(node.Children) > 0 {
			continue // a group
		}
		name := strings.TrimPrefix(node.Path(), parser.Model.Name+" ")
		isDefault := node.Parent.DefaultCmd == node && documented[node.Parent.Name]
		if group, _, _ := strings.Cut(name, " "); group != "bench" && !node.Hidden && !isDefault && !documented[name] {
			t.Errorf("docs/cli.md does not name the command %q", name)
		}
		delete(documented, name)
		if isDefault {
			delete(documented, node.Parent.Name)
		}
	}
	delete(documented, "bench")
	for name := range documented {
		t.Errorf("docs/cli.md names %q, which is no command", name)
	}
}
