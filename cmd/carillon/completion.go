package main

import (
	"context"
	"embed"

	"github.com/alecthomas/kong"

	"github.com/carillon-io/carillon/terminal"
)

// completionScripts make a shell run `carillon __complete` for completions. They are thin:
// everything that changes with the grammar is asked of the program at each completion.
//
//go:embed completion
var completionScripts embed.FS

// completionCmd prints a script for a shell.
type completionCmd struct {
	Shell string `arg:"" help:"${enum}." enum:"bash,zsh,fish"`
}

// Help is what `carillon completion --help` says besides the flags.
func (*completionCmd) Help() string {
	return `The script runs this program for completions: commands, flags, values of flags, timezones, and names of jobs, labels, runs, calendars and nodes. Names come from the server that the flags on the line and the environment select, within half a second or not at all.

Examples:

  carillon completion bash > ~/.local/share/bash-completion/completions/carillon
  carillon completion zsh > ~/.zfunc/_carillon
  carillon completion fish > ~/.config/fish/completions/carillon.fish`
}

// Run implements the command.
func (c *completionCmd) Run(con *console) error {
	script, err := completionScripts.ReadFile("completion/carillon." + c.Shell)
	if err == nil {
		_, err = con.out.Write(script)
	}
	return err
}

// completeCmd prints the completions of the last word, for the script of a shell.
type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"Words of the line after the name of the program, up to the cursor."`
}

// Run implements the command. Failures give no completions and no message, because a shell has no place for one.
func (c *completeCmd) Run(ctx context.Context, con *console, parsed *kong.Context) error {
	words := c.Words
	if len(words) == 0 {
		words = []string{""}
	}
	line := readLine(parsed.Model.Node, words)
	out := con.buffered()
	for _, found := range line.candidates(func(kind valueKind) []candidate { return lookUp(ctx, con, line, kind) }) {
		out.printf("%s", found.value)
		if found.help != "" {
			out.printf("\t%s", terminal.Printable(found.help))
		}
		out.printf("\n")
	}
	return out.flush()
}
