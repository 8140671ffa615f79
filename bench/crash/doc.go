// Command crash kills a real Carillon server with SIGKILL, again and again under load, and checks
// afterwards what the server promised: nothing acknowledged is lost, every tick is decided once, every
// fired run arrives, nothing arrives early.
//
//	go run ./bench/crash --binary bin/carillon --cycles 30 --seed 1
//
// What is recorded and what is checked is in package history. This program has the deaths.
//
// The server is never killed between a check and the read that it is based on: the final read comes
// after the load has ended and all that was due has had time to arrive.
package main
