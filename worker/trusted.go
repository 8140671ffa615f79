package worker

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkTrusted refuses a file or a directory that another user than root and that of the worker could change. In a
// directory with the sticky bit, such as /tmp, others can replace no file.
func checkTrusted(path string, info fs.FileInfo) error {
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && !(info.IsDir() && mode&fs.ModeSticky != 0) {
		return fmt.Errorf("%s: other users can write to it (mode %04o), so they would choose what runs; want chmod go-w", path, mode.Perm())
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: it belongs to the user %d, who would choose what runs; want root, or %s", path, owner.Uid, ownUser())
	}
	return nil
}
