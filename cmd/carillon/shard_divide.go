package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/divide"
	"github.com/carillon-io/carillon/job"
)

// shardDivideCmd makes a new data directory with several shards of the data of a stopped node, whose lock keeps a running
// one out.
type shardDivideCmd struct {
	Data        string `help:"Data directory of a stopped node: a single node, or one of a cluster with one shard. Nothing in it is changed." default:"./carillon-data" env:"CARILLON_DATA"`
	Shards      int    `help:"How many shards the data is divided into: 2, 4, 8 and so on up to 256." placeholder:"N" required:""`
	To          string `help:"Data directory to create; must be empty or not exist." placeholder:"DIR" required:""`
	ClusterName string `help:"Name of the cluster that it is to found." placeholder:"NAME" required:"" env:"CARILLON_CLUSTER_NAME"`
	Node        string `help:"Name of the node in the cluster. Default: the name that it has, or the host's name and six digits." placeholder:"NAME" env:"CARILLON_NODE"`
	GiveUp      string `name:"give-up" help:"Id of the cluster with one shard that ends with this. The start of the new directory deletes its log from NATS, and is refused if that has commits that the data lacks. The command names the id if the directory is of a cluster." placeholder:"ID"`
	outputFlag
}

// Help is what `carillon shard divide --help` says besides the flags.
func (*shardDivideCmd) Help() string {
	return `The new directory founds a cluster with so many shards when it is started, as after 'carillon cluster found'; the others start with empty directories, and are sent the jobs. With embedded NATS servers (serve --routes) start all at once, because the first start of a cluster needs all servers. Each job goes to the shard of its name, with its runs, its history and its lists. The command reads everything, counts the rows of each kind before and after, and fails if one is missing. A directory whose division was interrupted is refused by serve, and can be divided into again.

Jobs that a release before ids with slots has registered get new ids; the file ids.csv in the new directory has both. Run ids of these jobs in logs and in the hands of workers lead nowhere afterwards, so let workers report their runs before.

Keep the old directory until the cluster runs, and do not start it beside the cluster: it has the same jobs.

Examples:

  carillon shard divide --data /var/lib/carillon --shards 4 --to /var/lib/carillon-4 --cluster-name prod`
}

// dividedData is the JSON of the command.
type dividedData struct {
	Data       string        `json:"data"`
	To         string        `json:"to"`
	Node       string        `json:"node"`
	Cluster    string        `json:"cluster"`
	ClusterID  string        `json:"cluster_id"`
	GivesUp    string        `json:"gives_up,omitempty"`
	LSN        uint64        `json:"lsn"`
	Jobs       int           `json:"jobs"`
	Shards     []int         `json:"jobs_by_shard"`
	Renumbered int           `json:"renumbered"`
	Rows       []dividedRows `json:"rows"`
	Streams    []string      `json:"streams"` // of the old directory's embedded NATS server, which stay there
}

// dividedRows counts the rows of a kind.
type dividedRows struct {
	Kind   string `json:"kind"`
	Before int    `json:"before"`
	After  int    `json:"after"`
}

// Run implements the command.
func (c *shardDivideCmd) Run(ctx context.Context, con *console) error {
	if err := job.ValidateShards(c.Shards); err != nil || c.Shards == 1 {
		return usagef("--shards is %d; want 2, 4, 8 and so on up to 256", c.Shards)
	}
	if err := cmp.Or(checkOldDir(c.Data), checkPlace("to", c.To)); err != nil {
		return err
	}
	done, err := divide.Run(ctx, divide.Options{From: c.Data, Shards: c.Shards, FoundOptions: datadir.FoundOptions{
		Dir: c.To, ClusterName: c.ClusterName, Node: c.Node, GiveUp: c.GiveUp, Logger: newLogger(con.err, "text", "warn"),
	}})
	if errors.Is(err, datadir.ErrFoundOptions) {
		return usagef("%w", err)
	}
	if err != nil {
		return fmt.Errorf("divide %s into %s: %w", c.Data, c.To, err)
	}
	if c.isDocument() {
		return c.print(con, dividedData{
			c.Data, c.To, done.Node, c.ClusterName, done.ClusterID, c.GiveUp, done.Position.LSN, done.Founded.Jobs,
			done.Jobs, done.Renumbered, rowsOf(&done), append([]string{}, done.Streams...),
		})
	}
	c.report(con, &done)
	return nil
}

// rowsOf returns the counts in the order of the kinds.
func rowsOf(done *divide.Result) (rows []dividedRows) {
	for kind := job.KindMeta; kind <= job.KindLast; kind++ {
		if before, after := done.Before[kind], done.After[kind]; before+after > 0 {
			rows = append(rows, dividedRows{rowKinds[kind].name, before, after})
		}
	}
	return rows
}

// report writes what was done as text.
func (c *shardDivideCmd) report(con *console, done *divide.Result) {
	con.printf("divided %s of %s, up to LSN %d, into %s in %s\n", plural(done.Founded.Jobs, "job"), c.Data, done.Position.LSN, plural(c.Shards, "shard"), c.To)
	con.printf("%-16s %12s %12s\n", "rows", "before", "after")
	for _, r := range rowsOf(done) {
		con.printf("%-16s %12d %12d\n", r.Kind, r.Before, r.After)
	}
	least, most := done.Jobs[0], done.Jobs[0]
	for _, n := range done.Jobs {
		least, most = min(least, n), max(most, n)
	}
	con.printf("each shard has %d to %d jobs; calendars and profiles are in each shard that needs them, and the index is made anew\n", least, most)
	if done.Renumbered > 0 {
		con.printf("%s got ids with slots: %s has the old and the new ones\n", plural(done.Renumbered, "job"), datadir.IDsName)
	}
	if len(done.Streams) > 0 {
		con.printf("these streams of the embedded NATS server stay in %s: %s\n", c.Data, strings.Join(done.Streams, ", "))
	}
	con.printf("node %s is to found cluster %s\n", done.Node, c.ClusterName)
	con.printGivesUp(c.GiveUp, 0)
	con.notef("start it first: carillon serve --data %s --cluster-name %s --shards %d …; once it leads, the others with empty directories, or at once with embedded NATS servers (--routes), for which it waits; do not start %s beside it\n",
		c.To, c.ClusterName, c.Shards, c.Data)
}
