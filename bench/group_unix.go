//go:build unix

package bench

import "syscall"

// ownGroup puts a process into its own process group, so that Ctrl-C in a terminal reaches only this
// program: it can then still read the figures of the running server.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
