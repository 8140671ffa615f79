//go:build unix

package smallfile

import (
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// hasModes reports whether files have owners and permissions.
const hasModes = true

// isOwn reports whether a file belongs to the user of this process, or to root, who can read everything anyway.
func isOwn(about fs.FileInfo) bool {
	system, ok := about.Sys().(*syscall.Stat_t)
	return !ok || system.Uid == 0 || int(system.Uid) == os.Geteuid()
}

// isOwnGroup reports whether a file belongs to a group of this process.
func isOwnGroup(about fs.FileInfo) bool {
	system, ok := about.Sys().(*syscall.Stat_t)
	groups, _ := os.Getgroups() // without them the group of the process itself counts alone
	return ok && slices.Contains(append(groups, os.Getegid()), int(system.Gid))
}

// isOfRootGroup reports whether a file belongs to the group of root, whose members are administrators.
func isOfRootGroup(about fs.FileInfo) bool {
	system, ok := about.Sys().(*syscall.Stat_t)
	return ok && system.Gid == 0
}

// haveOneOwner reports whether two files belong to the same user.
func haveOneOwner(a, b fs.FileInfo) bool {
	one, ok := a.Sys().(*syscall.Stat_t)
	other, okToo := b.Sys().(*syscall.Stat_t)
	return ok && okToo && one.Uid == other.Uid
}
