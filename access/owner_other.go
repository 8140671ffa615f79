//go:build !unix

package access

import "io/fs"

// checkOwner permits every file: systems of this kind have no users and modes in the sense of Unix.
func checkOwner(string, fs.FileInfo) error { return nil }
