package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

const (
	crowdDialers  = 128             // connections that a process opens at a time
	crowdPatience = 5 * time.Second // time for a connection to be made
	crowdEnv      = "CARILLON_TEST_CROWD"
)

// crowdResult counts the outcomes of a process's connections.
type crowdResult struct {
	Made    int // accepted by the system
	Refused int // refused by the system, or not made in time
	Ended   int // of those made, closed by the server
}

// crowd is the processes that hold the connections.
type crowd struct {
	parts []*crowdProcess
}

type crowdProcess struct {
	leave  io.Closer
	output *bufio.Scanner
	cmd    *exec.Cmd
}

// openCrowd starts the processes, each with an address of its own to come from.
func openCrowd(t *testing.T, addr string, n int) *crowd {
	t.Helper()
	c := new(crowd)
	ctx, cancel := context.WithTimeout(context.Background(), 2*crowdTimeMax)
	t.Cleanup(cancel)
	for i := 0; i*crowdPart < n; i++ {
		order := fmt.Sprintf("%s=%s %d %d", crowdEnv, addr, i+2, min(crowdPart, n-i*crowdPart))
		in, out, cmd := testkit.StartTest(ctx, t, "TestCrowdProcess", order)
		c.parts = append(c.parts, &crowdProcess{in, bufio.NewScanner(out), cmd})
	}
	return c
}

func (c *crowd) waitDialed(t *testing.T) {
	t.Helper()
	for _, p := range c.parts {
		if !p.output.Scan() || p.output.Text() != "dialed" {
			t.Fatalf("a part of the crowd says %q", p.output.Text())
		}
	}
}

// leave ends the crowd, and returns its result.
func (c *crowd) leave(t *testing.T) (sum crowdResult) {
	t.Helper()
	for _, p := range c.parts {
		p.leave.Close()
	}
	for _, p := range c.parts {
		var part crowdResult
		if !p.output.Scan() || json.Unmarshal(p.output.Bytes(), &part) != nil {
			t.Fatalf("a part of the crowd says %q", p.output.Text())
		}
		sum.Made, sum.Refused, sum.Ended = sum.Made+part.Made, sum.Refused+part.Refused, sum.Ended+part.Ended
		for p.output.Scan() { // what the test of the process says of itself
		}
		if err := p.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	return sum
}

// TestCrowdProcess is a part of the crowd, in a process of its own: it opens connections and holds them until its
// input ends.
func TestCrowdProcess(t *testing.T) {
	order := strings.Fields(os.Getenv(crowdEnv))
	if len(order) != 3 {
		t.Skip("TestCrowd runs this")
	}
	from, err1 := strconv.Atoi(order[1])
	n, err2 := strconv.Atoi(order[2])
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	conns := dialMany(order[0], from, n)
	fmt.Println("dialed")
	_, _ = io.Copy(io.Discard, os.Stdin)
	result := crowdResult{Made: len(conns), Refused: n - len(conns)}
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := conn.Read(make([]byte, 1)); err != nil && !os.IsTimeout(err) {
			result.Ended++
		}
		conn.Close()
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s\n", text)
}

// dialMany opens n connections, as far as they are made in time.
func dialMany(addr string, from, n int) (conns []net.Conn) {
	dialer := net.Dialer{Timeout: crowdPatience, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(from), 1)}}
	end := time.Now().Add(crowdTimeMax)
	var mu sync.Mutex
	var dialers sync.WaitGroup
	var next atomic.Int64
	for range crowdDialers {
		dialers.Go(func() {
			for next.Add(1) <= int64(n) && time.Now().Before(end) {
				if conn, err := dialer.Dial("tcp", addr); err == nil {
					mu.Lock()
					conns = append(conns, conn)
					mu.Unlock()
				}
			}
		})
	}
	dialers.Wait()
	return conns
}
