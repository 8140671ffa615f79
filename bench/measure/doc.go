// Package measure holds what the product's benchmarks and those of its rivals measure with, so that their figures mean
// the same: the machine, the cost of an fsync, exact percentiles, the processor time of the machine, and how a number
// is printed.
//
// machine.go describes the machine and probes its disk, filesystem_linux.go and filesystem_other.go read what the
// system says about a directory, processor.go reads the processor time from /proc, and number.go computes and prints.
// It imports nothing of the product, and every reading that a system does not offer has a value that means unknown.
package measure
