//go:build !linux

package main

import (
	"syscall"
	"time"
)

func endWithParent(*syscall.SysProcAttr) {}

func sleepThread(d time.Duration) { time.Sleep(d) }
