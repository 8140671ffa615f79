package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/server"
)

// startedKey is the key of the nodes of a script's cluster, a map[string]*server.Server, in the values of the script.
const startedKey = "nodes"

// cmdCluster starts a NATS server and the nodes of a cluster on it, in the process of the test, and sets CARILLON_SERVER
// and HTTP_NODE for each node: cluster SHARDS NODE… The first node founds the cluster and leads all of its shards.
func cmdCluster(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: cluster shards node...")
		}
		shards, err := strconv.Atoi(args[0])
		ts.Check(err)
		url := bustest.Run(t, "port: -1\njetstream { store_dir: \"%s\" }\n").ClientURL()
		nodes := ts.Value(startedKey).(map[string]*server.Server)
		for _, name := range args[1:] {
			s, err := server.Start(t.Context(), server.Options{
				SpreadEvery: -1,
				Dir:         filepath.Join(ts.MkAbs(name), "data"), HTTPListen: "127.0.0.1:0", NATSURL: url, ClusterName: "prod", Node: name,
				Shards: shards, Version: "v9", Logger: slog.New(slog.DiscardHandler),
			})
			ts.Check(err)
			nodes[name] = s
			ts.Defer(func() { _ = s.Close(context.Background()) })
			ts.Setenv("HTTP_"+name, s.Ready().HTTP)
		}
		ts.Setenv("CARILLON_SERVER", url)
	}
}

// cmdEndNode ends a node of the script's cluster: endnode NODE.
func cmdEndNode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: endnode node")
	}
	ts.Check(ts.Value(startedKey).(map[string]*server.Server)[args[0]].Close(context.Background()))
}
