// Package datadir opens what a data directory holds: the lock, and a log and a store that are level with
// one another. The server and the embedded scheduler share it, so that either can open a directory that the
// other has left.
//
//	LOCK     held by the process that has the directory open
//	PARTS    there from the moment on at which wal/ and store/ were both made
//	wal/     the log
//	store/   the store, at the state of the log after some commit
//	NODE     of a node in a cluster: which one of which
//	INSTALLATION  of a node alone: the id that what it publishes is known by
//	JOINING  of a node whose data is being replaced
//	RESTORING  of a directory that a backup is being restored into
//
// The last four are the server's business.
package datadir

// The names in a data directory.
const (
	LockName    = "LOCK"
	LogName     = "wal"
	StoreName   = "store"
	PartsName   = "PARTS"
	NodeName    = "NODE"
	JoiningName = "JOINING"

	InstallationName = "INSTALLATION"
	RestoringName    = "RESTORING"
)
