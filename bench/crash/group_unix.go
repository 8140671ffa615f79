//go:build unix

package main

import "syscall"

// ownGroup puts a process into its own process group, so that Ctrl-C in a terminal reaches only this
// program, and only the rig ends the server.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
