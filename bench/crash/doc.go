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
package main
