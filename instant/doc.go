// Package instant is Carillon's unit of time: whole milliseconds since the Unix epoch, in UTC. A scheduled time is
// one of them exactly, so that two machines never differ by a rounding. It reads no clock.
//
// Finer times are rounded where they enter: down for the reading of a clock, up for what is waited for. Both
// directions make a run late rather than early.
package instant
