package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"time"
)

// largeBytes is the payload of a request of the mix large, which is over the limit of a job.
const largeBytes = 300 << 10

// readersSubject is what the readers of the mix readers subscribe to, and readersBytes the size of what is sent there.
const (
	readersSubject = "noise.unread"
	readersBytes   = 64 << 10
)

// noiseOf returns the requests of a mix, one for each number.
func noiseOf(mix string, rng *rand.Rand) func(i int) (subject string, body []byte) {
	verb := func(name string) string { return "carillon.v1." + noisyTenant + "." + name }
	large := []byte(`{"name":"large","schedule":"@daily","target":{"kind":"nats","subject":"a"},"payload":"` + strings.Repeat("x", largeBytes) + `"}`)
	switch mix {
	case "unknown":
		return func(i int) (string, []byte) { return verb(fmt.Sprintf("jobs.nonsense_%d", i%100)), garbage(rng) }
	case "large":
		return func(int) (string, []byte) { return verb("jobs.put"), large }
	case "costly":
		next, put := costlyNext(), costlyPut()
		return func(i int) (string, []byte) {
			if i%2 == 0 {
				return verb("schedules.next"), next
			}
			return verb("jobs.put"), put
		}
	case "readers":
		unread := make([]byte, readersBytes)
		return func(int) (string, []byte) { return readersSubject, unread }
	default:
		return func(i int) (string, []byte) {
			if i%largeEvery == largeEvery/2 {
				return verb("jobs.put"), large
			}
			body := garbage(rng)
			return verb(noiseVerbs[rng.IntN(len(noiseVerbs))]), body
		}
	}
}

// garbage returns a body that is seldom JSON.
func garbage(rng *rand.Rand) []byte {
	body := make([]byte, rng.IntN(256))
	for i := range body {
		body[i] = byte(rng.Uint32())
	}
	return body
}

// rare is a schedule with a tick in some tens of years: a fifth Monday that is a leap day.
const rare = "0 0 0 29 2 1#5"

// costlyNext is the preview that needs most work: many rare schedules, and as many ticks as there may be.
func costlyNext() []byte {
	schedules := make([]string, 16)
	for i := range schedules {
		schedules[i] = rare
	}
	text, _ := json.Marshal(map[string]any{"schedules": schedules, "count": 1000}) // strings and a number always encode
	return text
}

// costlyPut is a job whose exclusions leave hardly a tick of its schedules.
func costlyPut() []byte {
	text, _ := json.Marshal(map[string]any{
		"name": "costly", "schedules": []string{rare, "* * * * * *"}, "target": map[string]string{"kind": "nats", "subject": "a"},
		"exclude": []string{"* * * * * 0-3", "* * * * * 4-6"},
	})
	return text
}

// openReaders opens connections that subscribe and then read nothing. They stay open until the process ends.
func (c *noiseCmd) openReaders() error {
	u, err := url.Parse(c.URL)
	if err != nil {
		return err
	}
	for range c.Readers {
		conn, err := net.DialTimeout("tcp", u.Host, noisePatience)
		if err != nil {
			return err
		}
		connect, _ := json.Marshal(map[string]any{"verbose": false, "protocol": 1, "headers": true, "auth_token": u.User.Username(), "name": "bench reader"})
		_ = conn.SetDeadline(time.Now().Add(noisePatience))
		if _, err := fmt.Fprintf(conn, "CONNECT %s\r\nSUB %s 1\r\nPING\r\n", connect, readersSubject); err != nil {
			return err
		}
		c.open = append(c.open, conn) // or the collector would close it
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if lines.Text() == "PONG" {
				break
			}
		}
	}
	return nil
}
