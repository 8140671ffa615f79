// Package datadir opens a data directory: it takes the lock, reads whose directory it is, opens the log
// and the store, and checks that they fit together. It replaces both by what a node of a cluster receives
// ([Directory.Adopt]), puts aside what must not be lost, restores backups ([Restore]), and makes a
// directory the founder of a cluster ([Found]). The server and the embedded scheduler share it, so that
// each can open a directory that the other has closed: the server opens a [Directory], the embedded
// scheduler the parts alone ([Open]).
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
