//go:build !unix

package smallfile

import "io/fs"

// hasModes reports whether files have owners and permissions.
const hasModes = false

// isOwn reports whether a file belongs to the user of this process.
func isOwn(fs.FileInfo) bool { return true }

// isOwnGroup reports whether a file belongs to a group of this process.
func isOwnGroup(fs.FileInfo) bool { return true }
