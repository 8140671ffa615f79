//go:build !unix

package bench

import "syscall"

// ownGroup changes nothing where there are no process groups: Ctrl-C then reaches the server as well.
func ownGroup() *syscall.SysProcAttr { return nil }
