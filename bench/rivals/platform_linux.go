package main

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent has the kernel kill a child when this program is gone, however that came about.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// freeDisk returns the bytes that are free where a directory is; 0 if nobody knows.
func freeDisk(dir string) float64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0
	}
	return float64(st.Bavail) * float64(st.Bsize)
}

// fileSystem names the file system of a directory.
func fileSystem(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "unknown file system"
	}
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
		unix.TMPFS_MAGIC: "tmpfs (syncs cost nothing here)", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
	}
	if name, ok := names[int64(st.Type)]; ok {
		return name
	}
	return fmt.Sprintf("file system %#x", st.Type)
}
