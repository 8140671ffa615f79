package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/carillon-io/carillon/bench/kit"
)

// member is one NATS server of the topology outside, over all its lives. Its log and its data stay over all its
// lives, so a restart finds what was synced.
type member struct {
	name    string
	log     string
	site    site
	monitor string // host:port, where it says who is connected
	args    []string
	proc    *kit.Process
}

// members is how many NATS servers there are: with fewer than three, nothing is served when one dies. More would
// change none of the scenarios.
const members = 3

// start begins a life of the server, and does not wait for it to be ready.
func (m *member) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := m.site.spawn(m.name, m.log, self, m.args)
	if err == nil {
		m.proc = p
	}
	return err
}

// restart begins the next life of a server that is gone, and waits until it is ready.
func (m *member) restart() error {
	if err := m.start(); err != nil {
		return err
	}
	return m.proc.AwaitReady()
}

// startServers starts the NATS servers.
func (c *cluster) startServers(dir string) error {
	sites, clients, routes, err := c.layOut("nats", serverNumber)
	if err != nil {
		return err
	}
	for i, s := range sites {
		monitor, err := s.address(monitorPort)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("nats%d", i+1)
		m := &member{name: name, log: filepath.Join(dir, name+".log"), site: s, monitor: monitor, args: []string{
			natsCommand, "--name", name, "--dir", filepath.Join(dir, name), "--listen", clients[i], "--cluster", routes[i],
			"--routes", strings.Join(routes, ","), "--monitor", monitor,
		}}
		if err := m.start(); err != nil {
			return err
		}
		c.servers = append(c.servers, m)
	}
	for _, s := range c.servers {
		if err := s.proc.AwaitReady(); err != nil {
			return err
		}
	}
	return nil
}
