//go:build !unix

package main

import (
	"errors"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

func (p *process) pause() error { return errors.ErrUnsupported }

func (p *process) goOn() error { return errors.ErrUnsupported }
