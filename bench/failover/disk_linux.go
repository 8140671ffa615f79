package main

import (
	"fmt"
	"os"
	"syscall"
)

// mountSmall puts a small file system into a directory that it makes. It needs root. The file system is in memory, so
// a sync to it proves nothing about a real disk.
func mountSmall(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syscall.Mount("carillon-failover", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskBytes))
}

// unmount takes a small file system down.
func unmount(dir string) error { return syscall.Unmount(dir, 0) }
