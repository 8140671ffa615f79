//go:build unix

package main

import "syscall"

// ownGroup gives a process a group of its own, so that Ctrl-C in a terminal reaches this program
// alone and the server's death stays a decision of the rig.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
