//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

// Requests for the settings of a terminal.
const (
	termiosGet = unix.TIOCGETA
	termiosSet = unix.TIOCSETA
)
