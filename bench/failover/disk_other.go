//go:build !linux

package main

import "errors"

func mountSmall(string) error { return errors.ErrUnsupported }

func unmount(string) error { return errors.ErrUnsupported }
