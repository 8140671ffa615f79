//go:build !linux

package main

import "errors"

// mountSmall is not possible here, so the scenario of the full disk is left out.
func mountSmall(string) error { return errors.ErrUnsupported }

// unmount has nothing to take down here.
func unmount(string) error { return errors.ErrUnsupported }
