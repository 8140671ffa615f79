// Package datadir opens a data directory: it takes the lock, reads whose directory it is, opens the log and the store,
// and checks that they fit together. It replaces both by what a node of a cluster receives ([Directory.Adopt]), puts
// aside what must not be lost, restores backups ([Restore]), and makes a directory the founder of a cluster ([Found]).
// The server and the embedded scheduler share it, so that each can open a directory that the other has closed: the
// server opens a [Directory], the embedded scheduler the parts alone ([Open]).
//
//	LOCK     locked by the process that has the directory open
//	PARTS    exists once wal/ and store/ have both been created
//	wal/     the log
//	store/   the store, with the state of the log after some commit
//	NODE     of a node in a cluster: its name, and the cluster's
//	MEMBERS  of a node in a cluster: the other members, when it knew them last
//	INSTALLATION  of a node without a cluster: the id in the messages that it publishes
//	JOINING  of a node whose data is being replaced by a copy from another node
//	RESTORING  of a directory into which a backup is being restored
//	nats/    of a server with an embedded NATS server: its streams
//
// # The files of the package
//
// A start runs through lock_unix.go, restore.go (is it marked as being restored?), identity.go and identity_file.go
// (whose is it?), join.go (is a swap unfinished?), begun.go (are both parts there?), pair.go (do they fit?) and
// parts.go (replay). Then parts.go makes the checkpoints, checkpoints.go counts them, and diverged.go cuts or replaces
// what the cluster does not have; join.go, joining.go and kept.go make such a replacement survive a crash. found.go,
// members.go, installation.go and nats_aside.go each own one of the other names above, and files.go writes small files
// durably.
//
// # What holds
//
// A start that is refused has changed nothing but the lock file, apart from a swap that was decided before: a wrong
// option, a lost part or a newer format must not cost data. Every small file is replaced by a rename, and every step
// of a longer change is durable before the next begins, so a crash leaves a state from which the next start continues
// by itself. The store never has a commit that the log lacks and that is not durable in the store.
//
// The package does not decide which commits belong to a cluster; package replication does, and the caller passes its
// decision on. Apart from the identity, which has its own lock, nothing here is locked against concurrent calls: the
// caller keeps other users away as each method says.
package datadir

// The names in a data directory.
const (
	LockName    = "LOCK"
	LogName     = "wal"
	StoreName   = "store"
	PartsName   = "PARTS"
	NodeName    = "NODE"
	JoiningName = "JOINING"
	// MembersName is the file with the other members of the cluster.
	MembersName = "MEMBERS"

	InstallationName = "INSTALLATION"
	// RestoringName is the file that marks a directory as being restored. OpenDirectory refuses a directory with this
	// file, so that no incomplete data comes into use: it is the first thing that a restore makes durable and the last
	// that it removes.
	RestoringName = "RESTORING"

	// NATSName is the directory of the embedded NATS server of a server, if it has one.
	NATSName = "nats"
)
