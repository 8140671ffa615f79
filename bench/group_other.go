//go:build !unix

package bench

import "syscall"

func ownGroup() *syscall.SysProcAttr { return nil }
