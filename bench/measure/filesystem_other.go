//go:build !linux

package measure

// FreeDisk returns 0, which means unknown.
func FreeDisk(string) float64 { return 0 }

// fileSystem returns a text that says that it is not known.
func fileSystem(string) string { return "unknown file system" }
