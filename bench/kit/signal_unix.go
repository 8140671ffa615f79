//go:build unix

package kit

import "syscall"

// ownGroup puts a process into its own process group, so that Ctrl-C in a terminal reaches only this
// program, and only the rig ends the process.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Pause stops the process with SIGSTOP, until Resume. It returns [errors.ErrUnsupported] where there is no such
// signal. All threads of the process stand still, and its clock goes on, as with a machine that is suspended.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Hangup sends SIGHUP, by which a server reads its files again. It returns [errors.ErrUnsupported] where there is no such
// signal.
func (p *Process) Hangup() error { return p.cmd.Process.Signal(syscall.SIGHUP) }

// Resume continues a process that Pause stopped.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
