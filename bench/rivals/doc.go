// Command rivals measures Carillon beside what people would use instead, on one machine, in one run.
//
//	go run . rivals    a bare program, Carillon, NATS message schedules, River on PostgreSQL, asynq on Redis
//	go run . wheel     the timing wheel beside other structures of timers
//
// It is a module of its own, so that Carillon itself depends on none of them.
//
// # How rivals are compared
//
// All get the same jobs, in the same order of workloads, one after the other, each on an empty directory.
// What fires is received in a process of its own: a NATS subscriber for Carillon and for NATS, a worker
// for River and asynq. That process reads the wall clock as the first thing it does with an arrival.
// Lateness is arrival minus the time the job was scheduled for; a fire that comes late counts from there,
// whatever delayed it. Percentiles are exact: all samples are kept, sorted, and read by nearest rank.
//
// # The bare program
//
// A figure alone says as much about the machine as about a scheduler, so a program takes part that schedules nothing: it
// sleeps, publishes, writes and syncs, over the NATS that Carillon has (bareCmd). Each figure is told as a multiple of
// its. It is below what a scheduler over NATS can reach, and not above what another kind of program can.
//
// # What is checked
//
// Each job must arrive exactly once, and none before its time. If Carillon breaks that, the exit status
// is 1; for a rival it is told in its row.
package main
