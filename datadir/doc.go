// Package datadir opens a data directory. A [Directory] is what a process has once: the lock and the identity. A
// [Shard] of it is what an engine has: a log and a store that fit together. The package replaces both by what a node of
// a cluster receives ([Shard.Adopt]), puts aside what must not be lost, restores backups ([Restore]), makes a
// directory the founder of a cluster ([Found]), and a new one with several shards of one with one ([Divide]). The server and the embedded scheduler open a directory in the same way,
// so each can open one that the other has closed.
//
// # The names of the process, at the root
//
//	LOCK          locked by the process that has the directory open
//	PARTS         the version of this layout, and which shards have both a log and a store
//	NODE          of a node in a cluster: its name, and the cluster's
//	INSTALLATION  of a node without a cluster: the id in the messages that it publishes
//	RESTORING     of a directory into which a backup is being restored
//	DIVIDING      of a directory that is being made of the data of another one, divided into shards
//	nats/         of a server with an embedded NATS server: its streams
//	nats.alone/, nats.replaced-<UTC>/  such streams, put aside
//	wal/MOVED-TO-SHARDS-0              says where the log is; only in a directory that a release before shards made
//
// # The names of a shard, in shards/<number>/
//
//	wal/      the log
//	store/    the store, with the state of the log after some commit
//	SHARD     the number of the shard
//	MEMBERS   of a shard in a cluster: the nodes that had its log when it was known last, and its lease then
//	JOINING   of a shard whose data is being replaced by a copy from another node
//	incoming/ the copy that it receives
//	DAYBOOK   how late launches were in each minute of the last 24 hours; package daybook
//	outgoing/ copies of the store that are being sent; see exports.go
//	DROPPED   of a shard that other nodes hold, while its data is being removed
//	diverged-<epoch>-<lsn>-<time>.frames               commits that were cut off the log
//	{wal,store}.{replaced,behind}-<UTC>/               data that a copy has replaced
//
// Beside these directories there may be shards/<number>.replaced-<UTC>/: data of a shard that was not to be here, and that the
// node had not given up itself.
//
// Three of these could be taken for the other kind. MEMBERS is the shard's: it names the nodes that may have more of
// one log, and the lease of one shard, and two shards that wrote one file would overwrite each other. RESTORING is the
// process's: nothing of a directory may be opened before everything is restored. INSTALLATION is the process's: the ids
// of what is published contain the id of a run, which no two shards share.
//
// A directory of a release before shards has the names of shard 0 at the root. Its first start moves them; see move.go.
//
// # The files of the package
//
// A start runs through place.go (is it a part of another directory?), lock_unix.go, names.go (can the small files be used?),
// identity.go and identity_file.go (whose is it?), parts_file.go (which layout, which shards?), move.go (is anything at its old
// place?) and rehearse.go (would it be refused there?), and for a shard
// through shard.go, drop.go (is its end unfinished?), names.go again with number.go (is it at its place?), join.go (is a swap unfinished?), gone.go (are both parts there?), pair.go (do they fit?) and
// parts.go (replay). Then parts.go makes the checkpoints, checkpoints.go counts them, and diverged.go cuts or replaces
// what the cluster does not have; join.go, joining.go and kept.go make such a replacement survive a crash. found.go,
// members.go, installation.go and nats_aside.go each own one of the other names above, and files.go writes small files
// durably.
//
// # What holds
//
// A start that is refused has changed nothing but the lock file, apart from a swap that was decided before: a wrong option, a
// lost part or a newer format must not cost data. A path inside a data directory does not even get the lock file. Every small file is replaced by a
// rename, and every step of a longer change is durable before the next begins, so a crash leaves a state from which the
// next start continues by itself. The store never has a commit that the log lacks and that is not durable in the store.
//
// The package does not decide which commits belong to a cluster; package replication does, and the caller passes its
// decision on. The identity and the list of shards have locks of their own. Otherwise nothing of a shard is locked
// against concurrent calls: the caller keeps other users away as each method says. Different shards are independent.
package datadir

import (
	"path/filepath"
	"strconv"
)

// The names at the root of a data directory: what a process has once.
const (
	LockName         = "LOCK"
	PartsName        = "PARTS"
	NodeName         = "NODE"
	InstallationName = "INSTALLATION"
	// RestoringName is the file that marks a directory as being restored. OpenDirectory refuses a directory with this
	// file, so that no incomplete data comes into use: it is the first thing that a restore makes durable and the last
	// that it removes.
	RestoringName = "RESTORING"
	// DividingName is the file that marks a directory that `carillon shard divide` has not finished, in the same way.
	DividingName = "DIVIDING"
	// NATSName is the directory of the embedded NATS server of a server, if it has one.
	NATSName = "nats"
	// ShardsName is the directory with a directory for each shard; see [ShardDir].
	ShardsName = "shards"
)

// The names in the directory of a shard.
const (
	LogName     = "wal"
	StoreName   = "store"
	JoiningName = "JOINING"
	// NumberName is the file with the number of the shard; see number.go.
	NumberName = "SHARD"
	// MembersName is the file with the other members of the cluster.
	MembersName = "MEMBERS"
	// AncestorsName is the file with the positions of commits before the log of a node that received a checkpoint.
	AncestorsName = "ANCESTORS"
	// DaybookName is the file with how late launches were in the last 24 hours. Nothing depends on it.
	DaybookName = "DAYBOOK"
)

// ShardDir returns the path of a shard in the data directory dir; with an empty dir, its path relative to any.
func ShardDir(dir string, shard uint32) string {
	return filepath.Join(dir, ShardsName, strconv.FormatUint(uint64(shard), 10))
}
