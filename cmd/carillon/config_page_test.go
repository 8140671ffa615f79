package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "write docs/config.md anew from the flags of serve")

// configSections are the headings of docs/config.md. Each begins at a flag and ends before the next one, in the order
// of the grammar; so a new flag is in the section of the flags that it stands beside.
var configSections = []struct{ first, title, about string }{
	{"data", "Data, addresses and rights", "See [operations.md](operations.md) and [security.md](security.md)."},
	{"nats", "NATS servers of your own", "Without `--nats` the server embeds one. See [security.md](security.md#nats-servers-of-your-own)."},
	{"http-tls-cert", "TLS of listeners", "See [tls.md](tls.md)."},
	{"cluster-name", "Cluster", "See [replication.md](replication.md)."},
	{"allow-private-targets", "Targets", "See [security.md](security.md) and [credentials.md](credentials.md)."},
	{"lead", "Times and retention", "See [lifecycle.md](lifecycle.md) and [schedules.md](schedules.md#timezones)."},
	{"events", "Events and missed runs", "See [recipes.md](recipes.md) and [lifecycle.md](lifecycle.md)."},
	{"http-connections", "HTTP", "See [format/http.md](format/http.md#bounds)."},
	{"traces", "Traces", "See [tracing.md](tracing.md)."},
	{"log-format", "Log", ""},
}

// configHead is what docs/config.md says before its tables.
const configHead = `# Settings of the server

Every setting of ` + "`carillon serve`" + `, as a flag, a variable of the environment and a key of a config file. This page is made from the
flags of the program: ` + "`go test ./cmd/carillon -run TestConfigPage -update`" + ` writes it anew, and a test refuses one that is not current.

A flag wins over its variable, the variable over the config file, and the file over the default. The config file is one JSON
object, named by ` + "`--config FILE`" + ` or ` + "`CARILLON_CONFIG`" + `. Its keys are the names of the flags with underscores; a key that is no flag is
refused. Values are texts, numbers, true or false; a list is one text with commas.

` + "```json" + `
{
  "data": "/var/lib/carillon",
  "http_listen": "127.0.0.1:7272",
  "max_in_flight": 128,
  "log_format": "json"
}
` + "```" + `

A span of time is a number with a unit, such as ` + "`250ms`, `15s` or `24h`" + `; days are ` + "`90d`" + `. An empty default means: not set, or what the
meaning says. The flags of all other commands are in [cli.md](cli.md) and in ` + "`carillon COMMAND --help`" + `.
`

// TestConfigPage: docs/config.md has every flag of serve as the program has it.
func TestConfigPage(t *testing.T) {
	page, err := configPage(testParser(t).Model.Node)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "docs", "config.md")
	if *update {
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, page) {
		t.Error("docs/config.md is not that of the flags; want: go test ./cmd/carillon -run TestConfigPage -update")
	}
}

// TestConfigPageIsWhole: each flag has a row with its variable and its key, whatever the page looks like.
func TestConfigPageIsWhole(t *testing.T) {
	root := testParser(t).Model.Node
	page, err := configPage(root)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `--([a-z-]+)[`=].*$").FindAllStringSubmatch(string(page), -1)
	flags := serveFlags(root)
	if len(rows) != len(flags) || len(flags) < 50 {
		t.Fatalf("%d rows for %d flags", len(rows), len(flags))
	}
	for i, flag := range flags {
		for _, want := range append(slices.Clone(flag.Envs), configKey(flag)) {
			if rows[i][1] != flag.Name || len(flag.Envs) == 0 || !strings.Contains(rows[i][0], "`"+want+"`") {
				t.Errorf("--%s: no `%s` in its row: %s", flag.Name, want, rows[i][0])
			}
		}
	}
	if _, err := configPage(&kong.Node{}); err == nil {
		t.Error("a grammar without serve has a page")
	}
}

// configPage returns docs/config.md.
func configPage(root *kong.Node) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(configHead)
	flags, next := serveFlags(root), 0
	for i, flag := range flags {
		if next < len(configSections) && flag.Name == configSections[next].first {
			s := configSections[next]
			next++
			fmt.Fprintf(&b, "\n## %s\n\n", s.title)
			if s.about != "" {
				fmt.Fprintf(&b, "%s\n\n", s.about)
			}
			b.WriteString("| flag | variable, key | default | meaning |\n|---|---|---|---|\n")
		} else if i == 0 {
			return nil, fmt.Errorf("the first flag is --%s; want --%s", flag.Name, configSections[0].first)
		}
		b.WriteString(configRow(flag))
	}
	if next < len(configSections) {
		return nil, fmt.Errorf("no flag --%s after those before it: no section begins with it", configSections[next].first)
	}
	return b.Bytes(), nil
}

// serveFlags returns the flags that are settings of the server, in the order of the grammar.
func serveFlags(root *kong.Node) (flags []*kong.Flag) {
	for _, node := range commandsOf(root) {
		if node.Path() != "serve" {
			continue
		}
		for _, flag := range node.Flags {
			if !flag.Hidden && flag.Name != "config" && flag.Name != "help" {
				flags = append(flags, flag)
			}
		}
	}
	return flags
}

// configRow returns the row of a flag.
func configRow(flag *kong.Flag) string {
	name := "--" + flag.Name
	if !flag.IsBool() && flag.PlaceHolder != "" {
		name += "=" + flag.PlaceHolder
	}
	names := "`" + configKey(flag) + "`"
	if len(flag.Envs) > 0 {
		names = "`" + strings.Join(flag.Envs, "`, `") + "`, " + names
	}
	def := ""
	switch {
	case flag.HasDefault && flag.Default != "":
		def = "`" + flag.Default + "`"
	case flag.IsBool():
		def = "`false`"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", name, names, def, cell(flag.Help))
}

// cell returns a text that does not end its cell of a table, and in which nothing is an element or emphasis.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "_", `\_`, "*", `\*`, "\n", " ").Replace(text)
}
