// Package datadir opens a data directory: it takes the lock, opens the log and the store, and checks
// that they fit together. The server and the embedded scheduler share it, so that each can open a
// directory that the other has closed.
//
//	LOCK     locked by the process that has the directory open
//	PARTS    exists once wal/ and store/ have both been created
//	wal/     the log
//	store/   the store, with the state of the log after some commit
//	NODE     of a node in a cluster: its name, and the cluster's
//	INSTALLATION  of a node without a cluster: the id in the messages that it publishes
//	JOINING  of a node whose data is being replaced by a copy from another node
//	RESTORING  of a directory into which a backup is being restored
//
// The server writes and reads the last four.
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
	RestoringName    = "RESTORING"
)
