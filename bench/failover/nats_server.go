package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// natsCommand makes this program one member of the NATS cluster that the topology outside has. The program is its own
// NATS server, so that the version under test is the one in go.mod and nothing has to be installed.
const natsCommand = "nats"

// runNATS runs a NATS server until SIGTERM. It returns the exit status.
func runNATS(args []string, out, errs io.Writer) int {
	opts, err := parseNATS(args, errs)
	if err == nil {
		err = serveNATS(opts, out)
	}
	if err != nil {
		fmt.Fprintln(errs, "failover nats:", err)
		return 1
	}
	return 0
}

// parseNATS reads the command line. The members tell clients nothing of each other, so that a node stays with the
// proxies that it was given. They sync every write, because a cluster outside its nodes is started with --nats-syncs.
func parseNATS(args []string, usage io.Writer) (*server.Options, error) {
	o := &server.Options{JetStream: true, SyncAlways: true, NoSigs: true, MaxPayload: 4 << 20}
	o.Cluster.Name, o.Cluster.NoAdvertise = "failover", true
	flags := flag.NewFlagSet(natsCommand, flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&o.ServerName, "name", "", "name of the member")
	flags.StringVar(&o.StoreDir, "dir", "", "directory of its data")
	listen := flags.String("listen", "", "address for clients")
	cluster := flags.String("cluster", "", "address for the other members")
	monitor := flags.String("monitor", "", "address for questions about it over HTTP")
	routes := flags.String("routes", "", "addresses of all members for each other")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	var err error
	if o.Host, o.Port, err = splitAddress(*listen); err != nil {
		return nil, err
	}
	if o.Cluster.Host, o.Cluster.Port, err = splitAddress(*cluster); err != nil {
		return nil, err
	}
	if *monitor != "" {
		if o.HTTPHost, o.HTTPPort, err = splitAddress(*monitor); err != nil {
			return nil, err
		}
	}
	// Its own address is among them, which NATS recognises and does not connect to.
	for _, address := range strings.Split(*routes, ",") {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: address})
	}
	return o, nil
}

// splitAddress returns host and port of an address, whose port must be a number.
func splitAddress(address string) (string, int, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	port, err := strconv.Atoi(text)
	return host, port, err
}

// It prints the same ready line as the product, which package kit waits for. A member that does not become ready
// within ten seconds ends, so that the run fails with its log.
func serveNATS(o *server.Options, out io.Writer) error {
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	// It logs to the standard error, which the rig keeps in a file.
	s.ConfigureLogger()
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("%s did not become ready on %s:%d", o.ServerName, o.Host, o.Port)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Fprintln(out, `{"ready":true}`)
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}
