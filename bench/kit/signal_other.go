//go:build !unix

package kit

import (
	"errors"
	"syscall"
)

// ownGroup changes nothing where there are no process groups.
func ownGroup() *syscall.SysProcAttr { return nil }

// Pause is not supported here.
func (p *Process) Pause() error { return errors.ErrUnsupported }

// Hangup is not supported here.
func (p *Process) Hangup() error { return errors.ErrUnsupported }

// Resume is not supported here.
func (p *Process) Resume() error { return errors.ErrUnsupported }
