//go:build !linux

package main

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}

func freeDisk(string) float64 { return 0 }

func fileSystem(string) string { return "unknown file system" }
