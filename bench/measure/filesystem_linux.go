package measure

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FreeDisk returns the free bytes of the file system of a directory; 0 means unknown. It counts what an ordinary user
// may take, without the blocks that are reserved for root.
func FreeDisk(dir string) float64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0
	}
	return float64(st.Bavail) * float64(st.Bsize)
}

// fileSystem returns the name of the file system of a directory. An unknown type is shown by its number, which
// statfs(2) lists.
func fileSystem(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "unknown file system"
	}
	switch st.Type {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs (syncs cost nothing here)"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	default:
		return fmt.Sprintf("file system %#x", st.Type)
	}
}
