//go:build unix

package main

import "syscall"

// ownGroup gives a process a group of its own, so that Ctrl-C in a terminal reaches this program alone
// and the death of a node stays a decision of the rig.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// pause stops a process where it stands, until it is told to go on.
func (p *process) pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

func (p *process) goOn() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
