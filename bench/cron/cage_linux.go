package main

import (
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"syscall"
)

//go:embed cage.sh
var cageScript string

// cronIsHere returns an error unless this program can start cron in a namespace of its own.
func cronIsHere() error {
	if os.Geteuid() != 0 {
		return errors.New("only root can run commands as other users; want a shell of root")
	}
	if _, err := exec.LookPath("cron"); err != nil {
		return errors.New("cron is not installed; install it: apt-get install cron")
	}
	return nil
}

// encage starts a command in mount and process namespaces of its own, and ends it with this program. When its first
// process ends, all others in the namespace end too.
func encage(cmd *exec.Cmd) error {
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return cmd.Start()
}
