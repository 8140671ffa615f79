// Package measure holds what the product's benchmarks and those of its rivals measure with, so that their figures mean the
// same: the machine, the cost of an fsync, exact percentiles, the processor time of the machine, and how a number is printed.
package measure
