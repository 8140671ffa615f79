package datadir

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
)

// FoundOptions name the data directory that is to found a cluster.
type FoundOptions struct {
	Dir         string // data directory of a stopped node; it must exist
	ClusterName string // name of the cluster to found
	Node        string // name of the node in it; empty: the one that it has, or the host's and six hex digits
	// GiveUp is the id of the cluster of that name whose log NATS still has, and which begins anew with this
	// data. Commits that only that log or other nodes of that cluster have are lost to the new one. Empty:
	// none.
	GiveUp string
	// LoseCommits is how many commits of that log may be lost because this data lacks them; the start refuses to lose more. It
	// needs GiveUp.
	LoseCommits uint64
	Logger      *slog.Logger // default slog.Default()
}

// Founded describes what the directory will found when its node starts.
type Founded struct {
	Node      string
	ClusterID string
	Position  job.Position // position of the data, of several shards of the first one
	Shards    int          // of the cluster
	Jobs      int          // in all shards
	Streams   []string     // streams of the embedded NATS server of a node alone, which the start puts aside; see [NATSAside]
}

// Found makes a node's data directory the founder of a cluster: when the node starts with the cluster's name, it makes
// the cluster's log, and every other node receives its data. Nodes without data wait for it. Found does not contact
// NATS, and may be called again until the node has started. It returns ErrInUse, the errors of OpenDirectory and OpenShard, or why
// the directory cannot found that cluster. It opens the directory as a start would, so a directory that could not
// start cannot found, either. The position that it returns has replayed the whole log: a founder's data is the
// cluster's by definition, so no commit of it is doubtful. A directory with several shards founds a cluster with as many.
func Found(o FoundOptions) (done Founded, err error) {
	opts := Options{Dir: o.Dir, ClusterName: o.ClusterName, Node: o.Node, Logger: cmp.Or(o.Logger, slog.Default()), anyIdentity: true}
	if err := o.validate(); err != nil {
		return done, err
	}
	if _, err := os.Stat(o.Dir); err != nil {
		return done, err // OpenDirectory would make the directory
	}
	d, err := OpenDirectory(opts)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	shards := d.Shards()
	if len(shards) == 0 {
		shards = []uint32{0}
	}
	if err := CheckDivided(shards); err != nil {
		return done, err
	}
	for _, n := range shards {
		if err := done.add(d, n); err != nil {
			return done, err
		}
	}
	if err := d.found(o); err != nil {
		return done, err
	}
	id := d.held.get()
	done.Node, done.ClusterID, done.Shards = id.Node, id.ClusterID, len(shards)
	done.Streams, err = LoneStreams(o.Dir)
	return done, err
}

// add opens a shard, and counts its jobs.
func (f *Founded) add(d *Directory, number uint32) (err error) {
	s, err := d.OpenShard(number, ShardOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	jobs, err := countJobs(s.store)
	if f.Jobs += jobs; number == 0 {
		f.Position = s.Applied()
	}
	return err
}

// ErrFoundOptions marks an option of [Found] or [Divide] that is wrong whatever the directory has: nothing was looked at.
var ErrFoundOptions = errors.New("wrong option")

// optionError is an ErrFoundOptions in the words of its cause.
type optionError struct{ error }

// Is implements what [errors.Is] asks for.
func (optionError) Is(target error) bool { return target == ErrFoundOptions }

func badOption(format string, args ...any) error { return optionError{fmt.Errorf(format, args...)} }

func (o FoundOptions) validate() error {
	switch {
	case job.ValidateTenant(o.ClusterName) != nil:
		return badOption("the cluster name %q is no subject token; want 1 to %d letters, digits, - and _", o.ClusterName, job.TenantBytesMax)
	case o.Node != "" && job.ValidateTenant(o.Node) != nil:
		return badOption("the node name %q is no subject token; want 1 to %d letters, digits, - and _", o.Node, job.TenantBytesMax)
	case o.GiveUp != "" && !isClusterID(o.GiveUp):
		return badOption("%q is no id of a cluster; want %d hex digits, as the refused start names it", o.GiveUp, hex.EncodedLen(clusterIDBytes))
	case o.LoseCommits > 0 && o.GiveUp == "":
		return badOption("commits are lost only with the log of a cluster that is given up, and none is named")
	}
	return nil
}

// found records in the directory that it is a founder.
func (d *Directory) found(o FoundOptions) error {
	return d.held.change(func(id Identity) (Identity, error) { return id.founder(d.dir, o) })
}

// founder returns the identity of a directory that will found a cluster, and refuses one that must not. A repeated
// call keeps the id that was drawn, so that a founder whose start was interrupted finds the stream that it made. A
// member is refused, because a second cluster with the same jobs would fire them twice; GiveUp with its very id says
// that the operator knows.
func (id Identity) founder(dir string, o FoundOptions) (Identity, error) {
	switch {
	case id.isWitness():
		return id, fmt.Errorf("%s is the directory of the witness %q, which has no data to found a cluster with", dir, id.Node)
	case id.State == StateMember && id.ClusterID != "" && id.ClusterID != o.GiveUp:
		return id, fmt.Errorf("%s is node %q of the cluster %q already; start it. Only if no other node of that cluster has its data any more, "+
			"and NATS has lost or outrun its log, begin the cluster anew with what this node has: --give-up %s", dir, id.Node, id.Cluster, id.ClusterID)
	case o.Node != "" && o.Node != id.Node:
		return id, fmt.Errorf("%s is node %q, not %q; leave out --node", dir, id.Node, o.Node)
	}
	if id.State != StateFounder {
		id.ClusterID = drawID()
	}
	id.founds(o.GiveUp, o.LoseCommits, job.Position{LSN: id.DividedLSN, Epoch: id.DividedEpoch})
	id.Cluster, id.State, id.dir, id.drawn = o.ClusterName, StateFounder, dir, true
	return id, nil
}

// countJobs returns the number of jobs in a store. It counts the timers: each job has exactly one. It reads the whole
// range, so its cost grows with the jobs.
func countJobs(s *snapshot.Store) (jobs int, err error) {
	low := []byte{byte(job.KindTimer)}
	err = s.Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) { jobs++; return true, nil })
	return jobs, err
}
