//go:build !unix

package smallfile

import "io/fs"

// hasModes reports whether files have owners and permissions.
const hasModes = false

// isOwn reports whether a file belongs to the user of this process.
func isOwn(fs.FileInfo) bool { return true }

// isOwnGroup reports whether a file belongs to a group of this process.
func isOwnGroup(fs.FileInfo) bool { return true }

// isOfRootGroup reports whether a file belongs to the group of root.
func isOfRootGroup(fs.FileInfo) bool { return true }

// haveOneOwner reports whether two files belong to the same user.
func haveOneOwner(fs.FileInfo, fs.FileInfo) bool { return true }
