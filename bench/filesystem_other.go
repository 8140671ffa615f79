//go:build !linux

package bench

// freeDisk returns 0, which means unknown.
func freeDisk(string) float64 { return 0 }

func fileSystem(string) string { return "unknown file system" }
