package main

import (
	"fmt"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// clusterRows returns the rows of a status for a node of a cluster. Repeated messages are left out of the void ones: a
// leader that sends a frame again after a lost acknowledgement makes them in normal work. Of several shards, each has a lease
// and a log of its own, which the rows of the shards stand for.
func clusterRows(c *client.Cluster, several bool) (rows [][2]string) {
	rows = append(rows, [2]string{"cluster", fmt.Sprintf("%s, this is %s; commits are %s", c.Name, c.Node, c.Durability)})
	if !several {
		rows = append(rows, [2]string{"lease", showLease(c)})
	}
	if c.Lag > 0 {
		rows = append(rows, [2]string{"lag", fmt.Sprintf("%s, %s", plural(c.Lag, "commit"), showMillis(c.LagMS))})
	}
	for _, n := range c.Nodes {
		text := n.Role
		if !several {
			text += fmt.Sprintf(", LSN %d", n.LSN)
		}
		if n.Lag > 0 {
			text += fmt.Sprintf(", %s behind", plural(n.Lag, "commit"))
		}
		if isSilent(n.SilentMS) {
			text += ", not heard of for " + terminal.Span(millis(n.SilentMS))
		}
		// Nodes of different releases work side by side during an upgrade, so each shows its own.
		if n.Version != "" {
			text += ", " + n.Version
		}
		rows = append(rows, [2]string{"node " + n.Node, text})
	}
	void := uint64(0)
	for reason, n := range c.Void {
		if reason != "repeated" {
			void += n
		}
	}
	if void > 0 {
		rows = append(rows, [2]string{"void", plural(void, "message") + " of the log's stream that are no part of the log"})
	}
	for _, w := range c.Warnings {
		rows = append(rows, [2]string{"warning", w})
	}
	return rows
}

// showLease returns the row of the lease. The holder is the node that the lease names, whichever node answers.
func showLease(c *client.Cluster) string {
	lease := fmt.Sprintf("%s, term %d", c.Holder, c.Term)
	// Only a leader has trust, so a standby shows the lease alone.
	if c.TrustMS > 0 {
		lease += fmt.Sprintf(", trusted for %.1f s", c.TrustMS/1000)
	}
	return lease
}
