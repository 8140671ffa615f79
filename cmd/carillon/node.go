package main

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/terminal"
)

// nodeCmd groups the commands for the nodes of a cluster.
type nodeCmd struct {
	List nodeListCmd `cmd:"" help:"List the nodes: which shards each leads, which it follows, and how far it is behind."`
}

// Help is what `carillon node --help` says besides the commands.
func (*nodeCmd) Help() string {
	return `Examples:

  carillon node list`
}

// nodeListCmd lists the nodes of a cluster. A witness has no data and is none of them.
type nodeListCmd struct {
	remoteFlags
	outputFlag
}

// Help is what `carillon node list --help` says besides the flags.
func (*nodeListCmd) Help() string {
	return `BEHIND counts the commits that the leaders have and the node lacks, over all shards. SILENT is the time since the node was last heard from, if that is longer than a few seconds.

Examples:

  carillon node list
  carillon node list -o json | jq -r '.nodes[] | select(.leads == []) | .node'`
}

// nodeRows is the JSON of the command.
type nodeRows struct {
	Nodes []nodeRow `json:"nodes"`
}

// Run implements the command.
func (c *nodeListCmd) Run(ctx context.Context, con *console) error {
	s, err := c.status(ctx)
	if err != nil {
		return err
	}
	if s.Cluster == nil {
		return errors.New("the server is not a node of a cluster")
	}
	rows := nodesOf(&s)
	if c.isDocument() {
		return c.print(con, nodeRows{rows})
	}
	t := con.table("NODE", "LEADS", "FOLLOWS", "JOINS", "BEHIND", "SILENT", "RELEASE")
	for i := range rows {
		row, silent := &rows[i], "-"
		if isSilent(row.SilentMS) {
			silent = terminal.Span(millis(row.SilentMS))
		}
		t.Row(row.Node, showNumbers(row.Leads), showNumbers(row.Follows), showNumbers(row.Joins), showCount(row.Lag), silent, orDash(row.Version))
	}
	return t.Flush()
}
