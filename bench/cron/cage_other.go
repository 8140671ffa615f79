//go:build !linux

package main

import (
	"errors"
	"os/exec"
)

const cageScript = ""

// cronIsHere says that there are no namespaces here.
func cronIsHere() error { return errors.New("cron is run in namespaces, which only Linux has") }

func encage(*exec.Cmd) error { return errors.ErrUnsupported }
