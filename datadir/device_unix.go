//go:build unix

package datadir

import (
	"fmt"
	"os"
	"syscall"
)

// device returns the number of the file system on which path lies. A rename works within one file system only, which
// is why a swap compares these numbers before it begins.
func device(path string) (uint64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("the file system of %s is unknown", path)
	}
	return uint64(st.Dev), nil
}
