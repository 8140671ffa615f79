package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
	"github.com/carillon-io/carillon/worker"
)

// advice says what to do about an error. It belongs to the command line and not to the packages that return the
// errors, since it names flags and commands. is is compared by errors.Is, so it matches however deep the cause is
// wrapped.
type advice struct {
	is   error
	text string
}

// advices are searched from the top; the first match is used. Errors whose text contains the advice are not here. A
// cause stands before the consequence that wraps it: a log that is poisoned because its disk is full is explained by
// the disk.
var advices = []advice{
	{syscall.EADDRINUSE, "another program has that port: stop it, or choose another with --listen or --http-listen (port 0 picks a free one), or --cluster-listen"},
	{syscall.EADDRNOTAVAIL, "no interface of this machine has that address: choose one with --listen, --http-listen or --cluster-listen"},
	{snapshot.ErrInUse, "a carillon is running on it: stop that one first"},
	{snapshot.ErrForeign, "if it is the store of a carillon, put its file FORMAT back or restore a backup, else choose another directory with --data; nothing was changed"},
	{snapshot.ErrVersion, "another version of carillon wrote it: run that one; nothing was changed"},
	{wal.ErrLocked, "a carillon is running on it: stop that one first, or work on a copy"},
	{wal.ErrVersion, "a newer carillon wrote it: run that version or a later one; nothing was changed"},
	{wal.ErrNoSpace, dataIsFull},
	{syscall.ENOSPC, "free space on the disk that it writes to, then repeat the command"},
	{syscall.EDQUOT, "the quota of that disk is used up: free space, then repeat the command"},
	{syscall.EROFS, "the file system is read-only: mount it for writing, or choose another directory"},
	{syscall.EACCES, "the user that runs carillon may not do that: give it the rights, or choose another place"},
	{syscall.EPERM, "the user that runs carillon may not do that: give it the rights, or choose another place"},
	{syscall.ENOTDIR, "a part of the path is a file: choose a directory"},
	{syscall.EMFILE, "the process has too many open files: raise the limit (ulimit -n, or LimitNOFILE= of systemd)"},
	{nats.ErrNoServers, "nothing answers there: is a server running, and is the address right?"},
	{nats.ErrAuthorization, "it refuses these credentials, or they do not belong to this tenant: log in with 'carillon login', or set CARILLON_TOKEN or --creds, and --tenant"},
	{client.CodeUnauthenticated, "log in with 'carillon login', or set CARILLON_TOKEN or --token-file"},
	{snapshot.ErrFailed, "look into the system's log; if the files are damaged, restore a backup"},
	{wal.ErrPoisoned, "the disk failed to write: look into the system's log, then start again; nothing acknowledged is lost"},
}

// dataIsFull is what to do about a server whose disk, or whose quota of it, is full.
const dataIsFull = "free space on the disk of the data directory, then start again: nothing acknowledged is lost"

// serverError is the error of a command that is a server: what it writes is its data directory.
type serverError struct{ error }

// Unwrap returns the error.
func (e *serverError) Unwrap() error { return e.error }

// adviceFor returns what to do about an error; "" if its text says all.
func adviceFor(err error) string {
	if _, ok := errors.AsType[*serverError](err); ok && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)) {
		return dataIsFull
	}
	for _, a := range advices {
		if errors.Is(err, a.is) {
			return a.text
		}
	}
	return ""
}

// explain returns the line that a failed command ends with: what went wrong, where, and what to do. The result is one
// line without passwords, whatever the error contains.
func explain(err error) string {
	if text, ok := explainDamage(err); ok {
		return text
	}
	text := redactText(strings.TrimPrefix(oneLine(err.Error()), "client: "))
	if isUnusableState(err) {
		return text + "; choose a directory with --state that this user may create and write to, and that has room"
	}
	if advice := adviceFor(err); advice != "" {
		text += "; " + advice
	}
	return text
}

// isUnusableState reports whether the system refuses the state directory of a worker. The advices are about data directories.
func isUnusableState(err error) bool {
	_, isState := errors.AsType[*worker.StateError](err)
	_, isRefused := errors.AsType[*fs.PathError](err)
	return isState && isRefused
}

// explainDamage explains a damaged log or store; ok is false for any other error. It says in each case that nothing
// was changed, because the first question of an operator is whether the attempt made it worse.
func explainDamage(err error) (text string, ok bool) {
	if damage := (*wal.CorruptionError)(nil); errors.As(err, &damage) {
		from := ""
		if damage.LSN > 0 {
			from = fmt.Sprintf(", from LSN %d on", damage.LSN)
		}
		return fmt.Sprintf("the log is damaged: %s at offset %d%s: %s; nothing was changed: "+
			"keep a copy of the directory, see what is left with 'carillon wal dump', and put the file back or restore a backup",
			filepath.Join(damage.Dir, damage.Segment), damage.Offset, from, oneLine(damage.Reason)), true
	}
	if mismatch := (*wal.MismatchError)(nil); errors.As(err, &mismatch) {
		leads := ""
		// A mismatch may be the fault of a damaged store, which says its position by one of its files.
		if store := (*snapshot.DamageError)(nil); errors.As(err, &store) {
			leads = fmt.Sprintf(" (it is at LSN %d by %s)", mismatch.Applied.LSN, filepath.Join(store.Dir, store.File))
		}
		return fmt.Sprintf("the log %s and the store beside it%s do not belong together: %s; nothing was changed: "+
			"restore wal/ and store/ from one and the same copy", mismatch.Dir, leads, oneLine(mismatch.Reason)), true
	}
	if store := (*snapshot.DamageError)(nil); errors.As(err, &store) {
		cause := ""
		if store.Err != nil {
			cause = " (" + oneLine(store.Err.Error()) + ")"
		}
		if store.Opened {
			return fmt.Sprintf("the store is damaged: %s: %s%s: keep a copy of the directory, and put the file back or restore a backup; "+
				"a node of a cluster whose other nodes have the shard is started with an empty directory under its old name instead",
				filepath.Join(store.Dir, store.File), store.Reason, cause), true
		}
		return fmt.Sprintf("the store is damaged: %s: %s%s; nothing was changed: "+
			"keep a copy of the directory, and put the file back or restore a backup", filepath.Join(store.Dir, store.File), store.Reason, cause), true
	}
	return "", false
}

// oneLine joins the lines of a text, such as that of joined errors, by semicolons. A message in several lines would
// break scripts and logs that take the last line of the standard error for the reason.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
