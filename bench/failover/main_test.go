package main

import (
	"fmt"
	"os"
	"testing"
)

// hangCommand makes the test binary a process that is ready, and then does nothing until it is ended.
const hangCommand = "hang"

// TestMain lets the tests start this very binary as what the program starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case natsCommand:
			os.Exit(runNATS(os.Args[2:], os.Stdout, os.Stderr))
		case hangCommand:
			fmt.Println(`{"ready":true,"role":"standby"}`)
			select {}
		}
	}
	os.Exit(m.Run())
}
