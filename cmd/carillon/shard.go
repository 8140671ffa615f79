package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// shardCmd groups the commands for the shards of a cluster.
type shardCmd struct {
	List shardListCmd `cmd:"" help:"List the shards: which node leads each, and which follow it."`
	Move shardMoveCmd `cmd:"" help:"Let another node lead a shard."`

	Divide shardDivideCmd `cmd:"" help:"Divide the data of one shard into that of a cluster with several, offline."`
}

// Help is what `carillon shard --help` says besides the commands.
func (*shardCmd) Help() string {
	return `A cluster of several shards (carillon serve --shards N) has a leader for each, and different nodes may lead. Every other cluster, and a node alone, has the shard 0.

Examples:

  carillon shard list
  carillon shard move 2 --to b`
}

// shardListCmd lists the shards.
type shardListCmd struct {
	remoteFlags
	outputFlag
}

// Help is what `carillon shard list --help` says besides the flags.
func (*shardListCmd) Help() string {
	return `LEADER is none for a shard that no leader answers for: requests for its jobs are refused until it has one, and its replicas are those that the answering node has heard of.

Examples:

  carillon shard list
  carillon shard list -o json | jq -r '.shards[] | select(.has_leader | not) | .shard'`
}

// shardRows is the JSON of the command.
type shardRows struct {
	Shards []client.ShardStatus `json:"shards"`
}

// Run implements the command.
func (c *shardListCmd) Run(ctx context.Context, con *console) error {
	s, err := c.status(ctx)
	if err != nil {
		return err
	}
	rows := shardsOf(&s)
	if c.isDocument() {
		return c.print(con, shardRows{rows})
	}
	t := con.table("SHARD", "SLOTS", "LEADER", "EPOCH", "LSN", "JOBS", "REPLICAS")
	for i := range rows {
		row := &rows[i]
		epoch, lsn, jobs := "-", "-", "-"
		if row.HasLeader {
			epoch, lsn, jobs = fmt.Sprint(row.Epoch), fmt.Sprint(row.LSN), showCount(row.Jobs)
		}
		t.Row(fmt.Sprint(row.Shard), row.Slots, showLeader(row), epoch, lsn, jobs, showReplicas(row))
	}
	return t.Flush()
}

// status returns the status of the server that the flags select.
func (f *remoteFlags) status(ctx context.Context) (client.Status, error) {
	r, err := f.connect(ctx)
	if err != nil {
		return client.Status{}, err
	}
	defer r.close()
	return r.Status(ctx)
}

// shardMoveCmd hands the lead of a shard over to a node.
type shardMoveCmd struct {
	Shard uint32 `arg:"" help:"Number of the shard." complete:"@shards"`
	To    string `help:"Name of the node that is to lead the shard." placeholder:"NODE" required:"" complete:"@nodes"`
	Wait  span   `help:"How long to wait until a node that does not hold the shard has a copy, other moves before it included." default:"30m" placeholder:"DURATION"`
	remoteFlags
	outputFlag
}

// Help is what `carillon shard move --help` says besides the flags.
func (*shardMoveCmd) Help() string {
	return `The leader of the shard stops leading, and the node leads instead, without a late tick; no job changes. The command waits until it does. A node that does not hold the shard receives a copy of it before, in the place of the leader's, and the shard stays there until a node drains or an operator moves it. The command is refused, and nothing changes, if there is no such shard or node, if the node leads it already, and if the node is silent. It asks again, for up to --timeout, while the shard has no leader, the node lacks commits, or another hand-over is under way. A node that does not hold the shard waits for its copy, for up to --wait, while another move is in the way, while a node is about to lead the shard, and when it has just come itself.

Examples:

  carillon shard move 2 --to b`
}

// Run implements the command.
func (c *shardMoveCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connectOverAll(ctx, c.by())
	if err != nil {
		return err
	}
	defer r.close()
	s, err := r.Status(ctx)
	if err != nil {
		return err
	}
	row, err := shardIn(&s, c.Shard)
	if err == nil {
		err = isNode(&s, c.To)
	}
	switch {
	case err != nil:
	case isElsewhere(&s, row, c.To):
		err = r.bring(ctx, con, time.Duration(c.Wait), row, c.To)
	default:
		err = stays(canLead(row, c.To))
	}
	if err != nil {
		return err
	}
	return r.handOverAll(ctx, con, &c.outputFlag, time.Duration(c.Timeout), []handoverOf{{shard: c.Shard, to: c.To, several: true}})
}

// shardIn returns the row of a shard, or an error if there is no such shard.
func shardIn(s *client.Status, number uint32) (*client.ShardStatus, error) {
	rows := shardsOf(s)
	i := slices.IndexFunc(rows, func(row client.ShardStatus) bool { return row.Shard == number })
	switch {
	case s.Cluster == nil:
		return nil, errors.New("the server is not a node of a cluster, so there is no other node to lead")
	case i < 0 && len(rows) == 1:
		return nil, fmt.Errorf("there is no shard %d: the cluster has one, with the number %d", number, rows[0].Shard)
	case i < 0:
		return nil, fmt.Errorf("there is no shard %d: the cluster has %d, from 0 to %d", number, len(rows), len(rows)-1)
	}
	return &rows[i], nil
}

// canLead returns an error if a shard cannot be handed over to a node, as far as the status shows; the leader decides whether
// the node is level. An error that passes by itself is [client.CodeUnavailable].
func canLead(row *client.ShardStatus, node string) error {
	i := slices.IndexFunc(row.Replicas, func(r client.ShardReplica) bool { return r.Node == node })
	switch {
	case !row.HasLeader:
		return notNow("shard %d has no leader that answers; a node takes it by itself, or see the warnings of 'carillon status'", row.Shard)
	case row.Leader == node:
		return fmt.Errorf("node %s leads shard %d already", node, row.Shard)
	case i < 0:
		var names []string
		for _, r := range row.Replicas {
			names = append(names, r.Node)
		}
		return fmt.Errorf("there is no node %s with shard %d; it is on %s", node, row.Shard, strings.Join(names, ", "))
	case isSilent(row.Replicas[i].SilentMS):
		return fmt.Errorf("node %s cannot take shard %d over: %s", node, row.Shard, showReplica(&row.Replicas[i]))
	case row.Replicas[i].Role != "standby": // it receives a checkpoint, is about to lead, or led until now
		return notNow("node %s cannot take shard %d over: %s", node, row.Shard, showReplica(&row.Replicas[i]))
	}
	return nil
}

// notNow returns an error that passes by itself, as a node answers it.
func notNow(format string, args ...any) error {
	return &client.Error{Code: client.CodeUnavailable, Message: fmt.Sprintf(format, args...)}
}

// stays returns an error unless it passes by itself: a command refuses what stays, and asks again for the rest.
func stays(err error) error {
	if isRefusedForNow(err) {
		return nil
	}
	return err
}
