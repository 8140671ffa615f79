package main

import (
	"context"
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
	GiveUp      string `name:"give-up" help:"Id of the cluster of that name whose log NATS still has. The start deletes that log, with everything in it that the directory does not have. A refused start names the id and what the log holds." placeholder:"ID"`
	outputFlag
}

// Help is what `carillon cluster found --help` says besides the flags.
func (*clusterFoundCmd) Help() string {
	return `A node alone that has jobs becomes a cluster: start it with --cluster-name after this command, and the others with empty directories. It creates the log of the cluster, and the others copy its jobs. Nodes that start at the same time wait for it. Without this command a directory with jobs is refused, because joining a cluster would replace them.

The command writes the file NODE in the directory, and does not connect to NATS. To undo that before the node has started, remove the file. Like a start, it first moves a directory of a release before shards to the present layout.

With --give-up the cluster begins anew with this data: after all nodes were lost and a backup was restored, or if the only node left is too old to follow. The start deletes the log of the old cluster from NATS, unless one of its nodes is there. Start this node alone, and the others once it leads: an empty node beside it takes up the old log.

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

// Run implements the command.
func (c *clusterFoundCmd) Run(_ context.Context, con *console) error {
	if err := checkDataDir(c.Data); err != nil {
		return err
	}
	done, err := datadir.Found(datadir.FoundOptions{
		Dir: c.Data, ClusterName: c.ClusterName, Node: c.Node, GiveUp: c.GiveUp, Logger: newLogger(con.err, "text", "warn"),
	})
	if err != nil {
		return fmt.Errorf("make %s the founder of cluster %q: %w", c.Data, c.ClusterName, err)
	}
	if c.isDocument() {
		// The list is copied into an empty one, so that JSON has [] and not null.
		return c.print(con, founded{c.Data, done.Node, c.ClusterName, done.ClusterID, done.Position.LSN, done.Jobs, c.GiveUp, append([]string{}, done.Streams...)})
	}
	con.printf("node %s is to found cluster %s with %s, up to LSN %d\n", done.Node, c.ClusterName, plural(done.Jobs, "job"), done.Position.LSN)
	if c.GiveUp != "" {
		con.printf("its start deletes the log of the cluster with the id %s from NATS, and logs what it held\n", c.GiveUp)
	}
	if len(done.Streams) > 0 {
		con.printf("if its embedded NATS server becomes a member, the start puts these streams aside: %s\n", strings.Join(done.Streams, ", "))
	}
	con.notef("start it first: carillon serve --data %s --cluster-name %s …; the others with empty directories\n", c.Data, c.ClusterName)
	return nil
}
