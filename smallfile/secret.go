package smallfile

import (
	"errors"
	"fmt"
	"io/fs"
)

// The permissions that a file with a secret must not have.
const (
	othersMask = 0o027 // all of other users, and the group's to write
	allMask    = 0o077 // all of everyone but the owner
	writeMask  = 0o022 // to write, of everyone but the owner
)

// ReadSecret is Read for a file with a secret that a service reads, or with what decides who may do what: the file passes
// [CheckSecret].
func ReadSecret(path string, bytesMax int64) ([]byte, error) {
	return Read(path, bytesMax, func(about fs.FileInfo) error { return CheckSecret(path, about) })
}

// CheckSecret returns why a file must not be used that was opened by a path: other users of the machine may read or change
// it, or put another one in its place. The error does not name the file. See [NotForOthers] for the file itself. Each
// directory from the root to the file, and to what a link on the way leads to, belongs to the user of this process, to root
// or to the owner of the file, and only these, root's group and groups of this process may write to it. In a sticky
// directory others may write too if the entry belongs to one of these users, because only its owner can rename it.
func CheckSecret(path string, about fs.FileInfo) error {
	if err := NotForOthers(about); err != nil || !hasModes {
		return err
	}
	return checkPlace(path, about)
}

// NotForOthers is a check of a file with a secret that a service reads: no other user of the machine may read or change it.
// It is the user's own or root's. The group may read it, because Kubernetes gives a secret so to a process that is not root;
// a file of another user is accepted if it belongs to a group of this process, to which only a member or root can give it.
func NotForOthers(about fs.FileInfo) error {
	mode := about.Mode().Perm()
	switch {
	case !hasModes:
		return nil
	case mode&othersMask != 0:
		return fmt.Errorf("other users of this machine may read or change it (mode %04o); want 0600 (chmod 600), or 0640 with a group of its own", mode)
	case !isOwn(about) && !isOwnGroup(about):
		return errOfAnother
	}
	return nil
}

// ForOwnerAlone is a check of a file with a secret that a person keeps: it is the user's own or root's, and no other user may
// read or change it.
func ForOwnerAlone(about fs.FileInfo) error {
	if mode := about.Mode().Perm(); mode&allMask != 0 && hasModes {
		return fmt.Errorf("other users of this machine may read or change it (mode %04o); run chmod 600 on it, and replace its token if others can have read it", mode)
	}
	return WrittenByOwnerAlone(about)
}

// WrittenByOwnerAlone is a check of a file or a directory that a person keeps: it is the user's own or root's, and nobody
// else may change it.
func WrittenByOwnerAlone(about fs.FileInfo) error {
	switch mode := about.Mode().Perm(); {
	case !hasModes:
		return nil
	case mode&writeMask != 0:
		return fmt.Errorf("other users of this machine may change it (mode %04o); run chmod go-w on it", mode)
	case !isOwn(about):
		return errOfAnother
	}
	return nil
}

// errOfAnother refuses a file whose owner can change it at any time, whatever its mode is.
var errOfAnother = errors.New("it belongs to another user of this machine, who can change it; want one of the user of this process, or of root (chown)")
