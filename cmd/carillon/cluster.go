package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/datadir"
)

// clusterCmd groups the commands for clusters that work without a server.
type clusterCmd struct {
	Found clusterFoundCmd `cmd:"" help:"Turn the data of a single node into the start of a cluster."`
}

// Help is what `carillon cluster --help` says besides the commands.
func (*clusterCmd) Help() string {
	return `Examples:

  carillon cluster found --data /var/lib/carillon --cluster-name prod`
}

// clusterFoundCmd makes a data directory the founder of a cluster. It works on the directory of a stopped node, whose
// lock keeps a running one out.
type clusterFoundCmd struct {
	Data        string `help:"Data directory of a stopped node." default:"./carillon-data" env:"CARILLON_DATA"`
	ClusterName string `help:"Name of the cluster." placeholder:"NAME" required:"" env:"CARILLON_CLUSTER_NAME"`
	Node        string `help:"Name of the node in the cluster. Default: the name that it has, or the host's name and six digits." placeholder:"NAME" env:"CARILLON_NODE"`
	GiveUp      string `name:"give-up" help:"Id of the cluster of that name whose log NATS still has. The start deletes that log; if it has commits that the directory does not have, --lose-commits is needed. A refused start names the id and what the log holds." placeholder:"ID"`
	LoseCommits uint64 `name:"lose-commits" help:"How many commits of that log may be lost because the directory does not have them. A start that would lose more is refused, and names the number." placeholder:"N"`
	outputFlag
}

// Help is what `carillon cluster found --help` says besides the flags.
func (*clusterFoundCmd) Help() string {
	return `A node alone that has jobs becomes a cluster: start it with --cluster-name after this command, and the others with empty directories. It creates the log of the cluster, and the others copy its jobs. Nodes that start at the same time wait for it. Without this command a directory with jobs is refused, because joining a cluster would replace them.

The command writes the file NODE in the directory, and does not connect to NATS. To undo that before the node has started, remove the file. Like a start, it first moves a directory of a release before shards to the present layout.

With --give-up the cluster begins anew with this data: after all nodes were lost and a backup was restored, or if the only node left is too old to follow. The start deletes the log of the old cluster from NATS, unless one of its nodes is there, or the log has commits that this data lacks, as that of a standby which was behind, or of a backup: --lose-commits says how many may be lost. Start this node alone, and the others once it leads: an empty node beside it takes up the old log. With embedded NATS servers (serve --routes), of which the first start needs all, move nats/ out of the directory before, because it has that log, and start all nodes at once.

Examples:

  carillon cluster found --data /var/lib/carillon --cluster-name prod
  carillon cluster found --data /var/lib/carillon --cluster-name prod --give-up 00112233445566778899aabbccddeeff`
}

// founded is the JSON of the command. Streams are those that the start of the node will put aside; [] if there are
// none.
type founded struct {
	Data      string   `json:"data"`
	Node      string   `json:"node"`
	Cluster   string   `json:"cluster"`
	ClusterID string   `json:"cluster_id"`
	LSN       uint64   `json:"lsn"`
	Jobs      int      `json:"jobs"`
	GivesUp   string   `json:"gives_up,omitempty"`
	Streams   []string `json:"streams"`
}

// printGivesUp says what the start of a founder does to the log of the cluster that it gives up; nothing if it gives none up.
func (con *console) printGivesUp(id string, lost uint64) {
	switch {
	case id == "":
	case lost > 0:
		con.printf("its start deletes the log of the cluster with the id %s from NATS, and logs what it held; up to %s of it may be lost\n", id, plural(lost, "commit"))
	default:
		con.printf("its start deletes the log of the cluster with the id %s from NATS, and logs what it held; it is refused if that has commits which this data lacks\n", id)
	}
}

// Run implements the command.
func (c *clusterFoundCmd) Run(_ context.Context, con *console) error {
	if c.LoseCommits > 0 && c.GiveUp == "" {
		return usagef("--lose-commits is about the log that --give-up names, and needs it")
	}
	if err := checkOldDir(c.Data); err != nil {
		return err
	}
	done, err := datadir.Found(datadir.FoundOptions{
		Dir: c.Data, ClusterName: c.ClusterName, Node: c.Node, GiveUp: c.GiveUp, LoseCommits: c.LoseCommits, Logger: newLogger(con.err, "text", "warn"),
	})
	if errors.Is(err, datadir.ErrFoundOptions) {
		return usagef("%w", err)
	}
	if err != nil {
		return fmt.Errorf("make %s the founder of cluster %q: %w", c.Data, c.ClusterName, err)
	}
	if c.isDocument() {
		// The list is copied into an empty one, so that JSON has [] and not null.
		return c.print(con, founded{c.Data, done.Node, c.ClusterName, done.ClusterID, done.Position.LSN, done.Jobs, c.GiveUp, append([]string{}, done.Streams...)})
	}
	con.printf("node %s is to found cluster %s with %s, up to LSN %d\n", done.Node, c.ClusterName, plural(done.Jobs, "job"), done.Position.LSN)
	con.printGivesUp(c.GiveUp, c.LoseCommits)
	if len(done.Streams) > 0 {
		con.printf("if its embedded NATS server becomes a member, the start puts these streams aside: %s\n", strings.Join(done.Streams, ", "))
	}
	con.notef("start it first: carillon serve --data %s --cluster-name %s …; once it leads, the others with empty directories, or at once with embedded NATS servers (--routes), for which it waits\n", c.Data, c.ClusterName)
	return nil
}
