package worker

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/carillon-io/carillon/smallfile"
)

// readTrusted reads a file that only root and the user of the worker can write, nor replace in its directory. It never
// waits, whatever the path leads to.
func readTrusted(path string) ([]byte, error) {
	text, err := smallfile.Read(path, RulesBytesMax, checkTrusted)
	if err != nil {
		return nil, err
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if err := checkTrusted(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Dir(path), err)
	}
	return text, nil
}

// checkTrusted refuses a file or a directory that another user than root and that of the worker could change. In a
// directory with the sticky bit, such as /tmp, others can replace no file. The error does not name the file.
func checkTrusted(info fs.FileInfo) error {
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && !(info.IsDir() && mode&fs.ModeSticky != 0) {
		return fmt.Errorf("other users can write to it (mode %04o), so they would choose what runs; want chmod go-w", mode.Perm())
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to the user %d, who would choose what runs; want %s", owner.Uid, trustedOwners())
	}
	return nil
}

// trustedOwners names the users to whom a trusted file may belong.
func trustedOwners() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	return "root, or " + ownUser()
}
