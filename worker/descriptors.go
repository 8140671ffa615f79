package worker

import (
	"os"
	"strconv"
	"syscall"
)

// descriptorsUnlisted bounds the descriptors that are marked where the system does not list them.
const descriptorsUnlisted = 1 << 16

// keepDescriptors marks all open descriptors but the standard ones so that no command inherits them. Go marks those that it
// opens; the others come from the program that has started this one, and are not for the users of commands.
func keepDescriptors() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		for fd := 3; fd < descriptorsUnlisted; fd++ {
			syscall.CloseOnExec(fd)
		}
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
