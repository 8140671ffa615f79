package datadir

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
)

// Directory is an open data directory, as far as a process has it once: its lock, the identity of the node, and the
// list of the shards. The data is in its shards ([Directory.OpenShard]). Use [OpenDirectory] or [OpenWitness]. Its
// methods are safe for concurrent use, apart from Close, which comes after the last shard is closed.
type Directory struct {
	// The identity has its own lock, because requests for the status read it while a node joins.
	held   currentIdentity
	dir    string
	logger *slog.Logger
	// The kernel's lock is bound to this open file: closing it is what unlocks the directory. nil until claim has
	// taken it.
	lock   *DirLock
	memory *snapshot.Memory // that the stores share; nil: there is one
	// tablesMax bounds the open tables of all stores together; 0: by default.
	tablesMax int
	// clustered says that a node of a cluster has the directory open.
	clustered bool
	// doubtful says that the last commit of a shard's log may not be the cluster's; see [Shard.sureLSN].
	doubtful bool

	mu    sync.Mutex // held while PARTS is written
	parts partsFile  // as the file has it
	// settled has, for each shard that the process serves, whether its data belongs to the cluster.
	settled map[uint32]bool
}

// OpenDirectory locks the directory, checks that it is this node's, and moves what a release before shards has left at
// its root to the place of shard 0. It opens no shard. The lock comes before anything is read. A new identity is not
// written before the first shard is open, so that a directory that is refused for its contents keeps the identity that
// it had. After an error the directory is unlocked again.
func OpenDirectory(o Options) (*Directory, error) {
	d := &Directory{dir: o.Dir, logger: o.Logger, clustered: o.clustered(), tablesMax: o.TablesMax}
	err := d.claim(o)
	if err == nil {
		err = d.arrange()
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	d.openMemory(o)
	id := d.held.get()
	d.doubtful = o.clustered() && !o.anyIdentity && !id.IsOwn() && id.State != StateFounder
	return d, nil
}

// OpenWitness locks the directory of a witness, which has no shard, and keeps its name. The witness has an identity,
// because JetStream identifies it by its name, too.
func OpenWitness(o Options) (_ *Directory, err error) {
	d := &Directory{dir: o.Dir, logger: o.Logger}
	if err = d.claim(o); err == nil {
		err = d.held.keep()
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// claim locks the directory for this process, and checks that it is this node's. It writes nothing but the
// lock, because the directory may still be refused.
func (d *Directory) claim(o Options) (err error) {
	take := occupy
	if o.inside {
		take = occupyInside
	}
	if d.lock, err = take(o.Dir); err != nil {
		return err
	}
	if err := refusal(checkEntries(o.Dir, rootEntries, reader{clustered: o.clustered()})); err != nil {
		return err
	}
	d.held.id, err = openIdentity(o.Dir, o)
	return err
}

// Identity returns which node of which cluster the directory is.
func (d *Directory) Identity() Identity { return d.held.get() }

// MeetCluster keeps the id of the cluster that a shard of the node has met; discard says that the shard's data will be
// replaced by that cluster's. It returns an error if the directory belongs to another cluster. It is durable when it
// returns, and changes nothing if it is repeated. The caller calls it before the shard commits or adopts anything of the
// cluster: a crash in between must not leave a directory with data of a cluster that it does not name. Of several shards
// the caller names all to [Directory.CheckShards] before.
func (d *Directory) MeetCluster(shard uint32, clusterID string, discard bool) error {
	return d.held.adopt(clusterID, discard, d.settle(shard, !discard))
}

// MarkJoined keeps that the data of a shard belongs to the cluster now. It must follow [Shard.Adopt]: in the other order a
// crash would leave the old data under the name of the cluster.
func (d *Directory) MarkJoined(shard uint32) error {
	if pending := d.settle(shard, true); pending {
		return nil
	}
	return d.held.markJoined()
}

// settle notes whether the data of a shard belongs to the cluster, and reports whether another shard is pending: its data
// may not.
func (d *Directory) settle(shard uint32, settled bool) (pending bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, served := d.settled[shard]; served {
		d.settled[shard] = settled
	}
	for other, is := range d.settled {
		pending = pending || other != shard && !is
	}
	return pending
}

// MetLeader keeps that the servers of a witness have had a leader: from now on the cluster's name stays.
func (d *Directory) MetLeader() error { return d.held.metLeader() }

// Dir returns the path of the directory.
func (d *Directory) Dir() string { return d.dir }

// Close unlocks the directory. The caller closes its shards before, so that no other process can open a directory that
// is still being written. It works after a failed open, too.
func (d *Directory) Close() error {
	d.closeMemory()
	if d.lock == nil {
		return nil
	}
	return d.lock.Close()
}

// CheckShards returns an error if the directory has a shard other than those that the process serves, in PARTS or as a directory
// with data. A process that opened only some of them would leave the jobs of the others unfired in silence. It is called before the first
// [Directory.MeetCluster].
func (d *Directory) CheckShards(served ...uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, shard := range d.parts.shards {
		if !slices.Contains(served, shard) {
			return fmt.Errorf("%s says that this data directory has shard %d, which this program does not serve: it serves %s; the directory is of a cluster with other shards, or of a later release",
				filepath.Join(d.dir, PartsName), shard, shardsText(served))
		}
	}
	left, err := d.leftoversLocked()
	if err != nil {
		return err
	}
	for _, shard := range left {
		if !slices.Contains(served, shard) {
			return fmt.Errorf("%s has data of a shard that this program does not serve: it serves %s; if it is a copy, put it elsewhere", ShardDir(d.dir, shard), shardsText(served))
		}
	}
	d.settled = map[uint32]bool{0: false}
	for _, shard := range d.parts.shards {
		d.settled[shard] = false
	}
	return nil
}

// shardsText names shards whose numbers follow each other.
func shardsText(shards []uint32) string {
	if len(shards) == 1 {
		return fmt.Sprintf("shard %d alone", shards[0])
	}
	return fmt.Sprintf("the shards %d to %d", shards[0], shards[len(shards)-1])
}

// Shards returns the numbers of the shards of which the directory has a log and a store, ascending.
func (d *Directory) Shards() []uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.parts.shards)
}

// PositionOf returns the position of the store of a shard that is not open, and changes nothing.
func (d *Directory) PositionOf(shard uint32) (job.Position, error) {
	return snapshot.Inspect(filepath.Join(ShardDir(d.dir, shard), StoreName))
}

// CheckDivided returns an error if a directory with these shards, ascending, does not have all shards of a cluster.
func CheckDivided(shards []uint32) error {
	if err := job.ValidateShards(len(shards)); err != nil {
		return fmt.Errorf("the data directory has %w", err)
	}
	if last := shards[len(shards)-1]; int(last) != len(shards)-1 {
		return fmt.Errorf("the data directory has %d shards, and one of them is shard %d: it does not have all shards of a cluster", len(shards), last)
	}
	return nil
}

// shown returns the path of the file that shows that a shard has had both parts; "" if there is none.
func (d *Directory) shown(shard uint32) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.parts.has(shard) {
		return ""
	}
	return PartsName
}

// noteShard records in PARTS that a shard has both parts, which are durable. It writes nothing if PARTS has it.
func (d *Directory) noteShard(shard uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.parts.has(shard) {
		return nil
	}
	return d.writeParts(d.parts.with(shard))
}

// writeParts writes PARTS, and keeps what it says. The caller holds mu.
func (d *Directory) writeParts(p partsFile) error {
	err := p.write(d.dir)
	if err == nil {
		d.parts = p
	}
	return err
}
