//go:build unix

package access

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// checkOwner refuses a file that another user of the machine could change or put there: one of another user, unless that user
// has given it to a group of this process, which only a member or root can do; and one in a directory where every user may
// rename files.
func checkOwner(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && st.Uid != 0 && int64(st.Uid) != int64(os.Geteuid()) && !isOwnGroup(int64(st.Gid)) {
		return fmt.Errorf("it belongs to another user (%d), who can change it; want `chown` to the user of the server or to root", st.Uid)
	}
	paths := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		paths = append(paths, real)
	}
	for _, one := range paths {
		dir, err := os.Stat(filepath.Dir(one))
		if err != nil {
			return plainPathError(err)
		}
		if mode := dir.Mode(); mode.Perm()&0o002 != 0 && mode&fs.ModeSticky == 0 {
			return fmt.Errorf("every user of this machine may replace it, because its directory is open to them (mode %#o); want `chmod o-w` of the directory", mode.Perm())
		}
	}
	return nil
}

// isOwnGroup reports whether this process is in a group.
func isOwnGroup(gid int64) bool {
	groups, _ := os.Getgroups() // without them the file is that of another user
	return int64(os.Getegid()) == gid || slices.ContainsFunc(groups, func(g int) bool { return int64(g) == gid })
}
