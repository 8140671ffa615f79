package main

import (
	"context"
	"embed"

	"github.com/alecthomas/kong"
)

// completionScripts make shells ask `carillon __complete` what fits.
//
//go:embed completion
var completionScripts embed.FS

// completionCmd prints a script for a shell.
type completionCmd struct {
	Shell string `arg:"" help:"${enum}." enum:"bash,zsh,fish"`
}

// Help is what `carillon completion --help` says besides the flags.
func (*completionCmd) Help() string {
	return `The script asks this program what fits: commands, flags, the values of flags, and names of jobs, for which it asks the server that the flags on the line and the environment name, for at most half a second.

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

// completeCmd tells a script what fits in the place of the last word.
type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"Words of the line behind the name of the program, up to the cursor."`
}

// Run implements the command. What cannot be found out is not offered: a shell has no place for errors.
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
			out.printf("\t%s", printable(found.help))
		}
		out.printf("\n")
	}
	return out.flush()
}
