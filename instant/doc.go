// Package instant is Carillon's unit of time: whole milliseconds since the Unix epoch, in UTC. A scheduled time is
// one of them exactly, so that two machines never differ by a rounding. It reads no clock.
package instant
