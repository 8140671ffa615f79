// Command crash kills a real Carillon server with SIGKILL, again and again under load, and checks
// afterwards what the server promised: nothing acknowledged is lost, every tick is decided once, every
// fired run arrives, nothing arrives early.
//
//	go run ./bench/crash --binary bin/carillon --cycles 30 --seed 1
//
// Package history describes what is recorded and what is checked. This program decides when and how the
// server dies.
//
// The server is never killed between the final read and the checks that are based on it: the read comes
// after the load has ended and everything that was due has had time to arrive.
//
// main.go reads the command line and judges the history at the end. rig.go builds what surrounds the server: NATS
// (broker.go), the sink and the clients. process.go starts and ends one life of the server after another, cycle.go
// decides how each ends, and final.go reads what is left. One goroutine does all of this; the clients and the sink run
// beside it and share only the recorder with it.
//
// It does not simulate a loss of power: after SIGKILL the kernel still has what was written. What a lost sync costs is
// tested in packages wal and snapshot, on file systems in memory.
package main
