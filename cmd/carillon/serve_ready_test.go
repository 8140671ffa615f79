package main

import (
	"bytes"
	"testing"

	"github.com/carillon-io/carillon/server"
)

// TestReadyLine: with one shard the line has no word of shards; with several it has their number and those that are led.
func TestReadyLine(t *testing.T) {
	one := server.Ready{NATS: "nats://n", HTTP: "http://h", Role: "leader", Epoch: 1, Jobs: 2, Listen: server.Listening{HTTP: "h"}}
	some, none := one, one
	some.Shards, some.Leads = 4, []uint32{0, 2}
	none.Shards, none.Role = 4, "standby"
	for want, ready := range map[string]server.Ready{
		`{"ready":true,"nats":"nats://n","http":"http://h","role":"leader","epoch":1,"jobs":2,"listen":{"http":"h"}}` + "\n":                          one,
		`{"ready":true,"nats":"nats://n","http":"http://h","role":"leader","epoch":1,"jobs":2,"shards":4,"leads":[0,2],"listen":{"http":"h"}}` + "\n": some,
		`{"ready":true,"nats":"nats://n","http":"http://h","role":"standby","epoch":1,"jobs":2,"shards":4,"leads":[],"listen":{"http":"h"}}` + "\n":   none,
	} {
		var out bytes.Buffer
		if err := (&console{out: &out}).printReady(ready); err != nil || out.String() != want {
			t.Errorf("%s, %v; want %s", out.String(), err, want)
		}
	}
}
