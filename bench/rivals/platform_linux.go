package main

import "syscall"

// endWithParent has the kernel kill a child when this program is gone, however that came about.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
