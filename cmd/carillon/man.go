package main

import (
	"slices"
	"sort"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd prints the manual page.
type manCmd struct{}

// Help is what `carillon man --help` says besides the flags.
func (*manCmd) Help() string {
	return `The page is written from the same texts as --help, in the language of man (roff).

Examples:

  carillon man | man -l -
  carillon man > /usr/local/share/man/man1/carillon.1`
}

// Run implements the command.
func (c *manCmd) Run(con *console, parsed *kong.Context) error {
	_, err := con.out.Write([]byte(manPage(parsed.Model.Node, buildVersion().Version)))
	return err
}

// variable is an environment variable without a flag. name may be several variables with commas, which belong
// together.
type variable struct{ name, help string }

// variables are the environment variables in the manual page and the documentation, besides those of flags. Those of
// flags come from the grammar.
var variables = []variable{
	{"NO_COLOR", "If it is set and not empty, there are no colours, except with --color=always."},
	{"TERM", "If it is dumb, there are neither colours nor bars."},
	{"COLUMNS, LINES", "Size of the terminal, in place of its own answer."},
	{"XDG_CONFIG_HOME", "Directory of carillon/context and nats/context, with the contexts of login and of the nats command; ~/.config if left out."},
	{"USER", "With the name of the machine: the caller in the audit log; see --by."},
}

// manPage returns the manual page of the command line. It depends only on the grammar and the version. It contains
// neither a date nor a path, so that a release can be built again with the same bytes.
func manPage(root *kong.Node, version string) string {
	p := &roff{}
	p.macro("TH", "CARILLON", "1", "", "carillon "+version, "Carillon Manual")
	p.section("NAME")
	p.text("carillon - durable job scheduler: cron, intervals and one-shots to NATS, JetStream and HTTP")
	p.section("SYNOPSIS")
	// Only the first level; the commands of a group have theirs under COMMANDS.
	for _, node := range root.Children {
		if !node.Hidden {
			p.synopsis(node)
		}
	}
	p.section("DESCRIPTION")
	p.detail(description)
	p.section("COMMANDS")
	for _, node := range commandsOf(root) {
		p.command(node)
	}
	p.section("SERVER FLAGS")
	p.text("Commands that connect to a server take these flags besides their own:")
	p.flags(flagsOf(root, isServerFlag))
	p.section("FLAGS OF EVERY COMMAND")
	p.flags(root.Flags)
	p.environment(root)
	p.section("FILES")
	p.item("./carillon-data", "Data directory of serve and restore, unless --data names another: wal/ (log), store/ (store) and nats/ (streams of the embedded server).")
	p.item("~/.config/carillon/context/NAME.json", "Contexts of login: an address, and the credentials for it. Only their owner may read them. The file current beside the directory names the one in use.")
	p.item("~/.config/nats/context/NAME.json", "Contexts of the nats command, which --context takes addresses and credentials from.")
	p.section("EXIT STATUS")
	p.item("0", "Success. Also: Ctrl-C ended a command with --watch.")
	p.item("1", "The command failed in whole or in part; the standard error says why. Of diff: apply would change something.")
	p.item("2", "The command line is wrong.")
	return p.String()
}

// commandsOf returns all visible commands below a node, in the order of the grammar.
func commandsOf(node *kong.Node) (all []*kong.Node) {
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(append(all, child), commandsOf(child)...)
		}
	}
	return all
}

// synopsis writes how a command is called.
func (p *roff) synopsis(node *kong.Node) {
	p.macro("PP")
	p.bold("carillon " + node.Path())
	if rest := strings.TrimPrefix(node.Summary(), node.Path()); rest != "" {
		p.line(strings.TrimSpace(rest))
	}
}

// command writes the section of one command.
func (p *roff) command(node *kong.Node) {
	p.macro("SS", "carillon "+node.Path())
	p.text(node.Help)
	p.synopsis(node)
	p.detail(node.Detail)
	for _, arg := range node.Positional {
		p.item("<"+arg.Name+">", arg.Help)
	}
	// The grammar is shared, so the list is copied before anything is taken out of it.
	own := slices.DeleteFunc(slices.Clone(node.Flags), isServerFlag)
	p.flags(own)
	if len(own) < len(node.Flags) {
		p.text("And the server flags, see there.")
	}
}

// isServerFlag reports whether a flag selects a server. The group of the flag decides, so a new flag needs no entry
// here.
func isServerFlag(flag *kong.Flag) bool { return flag.Group != nil && flag.Group.Key == "server" }

// flagsOf returns the wanted flags of all commands, each name once.
func flagsOf(root *kong.Node, wanted func(*kong.Flag) bool) (all []*kong.Flag) {
	seen := make(map[string]bool)
	for _, node := range append([]*kong.Node{root}, commandsOf(root)...) {
		for _, flag := range node.Flags {
			if wanted(flag) && !seen[flag.Name] {
				seen[flag.Name] = true
				all = append(all, flag)
			}
		}
	}
	return all
}

// flags writes a list of flags.
func (p *roff) flags(flags []*kong.Flag) {
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		p.item(flagHead(flag), flagHelp(flag))
	}
}

// flagHead returns the names of a flag and the placeholder of its value.
func flagHead(flag *kong.Flag) string {
	text := "--" + flag.Name
	if flag.Tag.Negatable != "" {
		text += ", --no-" + flag.Name
	}
	if !flag.IsBool() {
		text += "=" + flag.FormatPlaceHolder()
	}
	if flag.Short != 0 {
		text = "-" + string(flag.Short) + ", " + text
	}
	return text
}

// flagHelp returns the help text of a flag, with its environment variable.
func flagHelp(flag *kong.Flag) string {
	if len(flag.Envs) == 0 {
		return flag.Help
	}
	return flag.Help + " Variable: " + strings.Join(flag.Envs, ", ") + "."
}

// environment writes the environment variables, each with its flag if it has one.
func (p *roff) environment(root *kong.Node) {
	all := slices.Clone(variables)
	for _, flag := range flagsOf(root, func(flag *kong.Flag) bool { return len(flag.Envs) > 0 }) {
		all = append(all, variable{strings.Join(flag.Envs, ", "), "The same as --" + flag.Name + "."})
	}
	// By name, because readers look a variable up; where it comes from is of no interest to them.
	sort.SliceStable(all, func(i, j int) bool { return all[i].name < all[j].name })
	p.section("ENVIRONMENT")
	p.text("A flag on the command line wins over its variable.")
	for _, v := range all {
		p.item(v.name, v.help)
	}
}
