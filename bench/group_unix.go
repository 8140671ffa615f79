//go:build unix

package bench

import "syscall"

// ownGroup gives a process a group of its own, so that Ctrl-C in a terminal reaches this program
// alone: the figures so far are still taken from a server that runs.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
