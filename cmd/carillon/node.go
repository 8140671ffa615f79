package main

import (
	"context"
	"errors"
	"slices"

	"github.com/carillon-io/carillon/terminal"
)

// nodeCmd groups the commands for the nodes of a cluster.
type nodeCmd struct {
	List   nodeListCmd   `cmd:"" help:"List the nodes: which shards each leads, which it follows, and how far it is behind."`
	Drain  nodeDrainCmd  `cmd:"" help:"Of several shards: let other nodes hold and lead what a node does, so that it can end."`
	Remove nodeRemoveCmd `cmd:"" help:"Take a node out that has ended and does not come back."`
}

// Help is what `carillon node --help` says besides the commands.
func (*nodeCmd) Help() string {
	return `Examples:

  carillon node list
  carillon node drain c
  carillon node remove c`
}

// nodeListCmd lists the nodes of a cluster. A witness has no data and is none of them.
type nodeListCmd struct {
	remoteFlags
	outputFlag
}

// Help is what `carillon node list --help` says besides the flags.
func (*nodeListCmd) Help() string {
	return `BEHIND counts the commits that the leaders have and the node lacks, over all shards. SILENT is the time since the node was last heard from, if that is longer than a few seconds. ZONE and STATE are shown if a node has one: STATE is "drains" for a node that is to hold nothing, and the weight of a node if it is not 1.

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
	zoned := slices.ContainsFunc(rows, func(r nodeRow) bool { return r.Zone != "" })
	special := slices.ContainsFunc(rows, func(r nodeRow) bool { return r.state() != "" })
	head := []string{"NODE", "LEADS", "FOLLOWS", "JOINS", "BEHIND", "SILENT"}
	t := con.table(append(columns(head, zoned, "ZONE", special, "STATE"), "RELEASE")...)
	for i := range rows {
		row, silent := &rows[i], "-"
		if isSilent(row.SilentMS) {
			silent = terminal.Span(millis(row.SilentMS))
		}
		cells := []string{row.Node, showNumbers(row.Leads), showNumbers(row.Follows), showNumbers(row.Joins), showCount(row.Lag), silent}
		t.Row(append(columns(cells, zoned, orDash(row.Zone), special, orDash(row.state())), orDash(row.Version))...)
	}
	return t.Flush()
}

// columns returns cells with those that are shown only if a node has something to show in them.
func columns(cells []string, zoned bool, zone string, special bool, state string) []string {
	if zoned {
		cells = append(cells, zone)
	}
	if special {
		cells = append(cells, state)
	}
	return cells
}
