package examples

import (
	"context"
	"strings"
	"testing"
)

// TestPauseIsKept: a program that registers its job at its start leaves the pause of an operator, and changes the rest.
func TestPauseIsKept(t *testing.T) {
	program, server := startServer(t)
	for _, e := range programs {
		if e.name != "go-nats" && e.name != "javascript-nats" && e.name != "python-nats" {
			continue // which say that they resume the job
		}
		t.Run(e.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), exampleTime)
			defer cancel()
			job := "examples/" + e.name
			carillon(t, program, server, "job", "put", job, "--schedule", "@every 1s", "--target", "nats:a")
			carillon(t, program, server, "job", "pause", job)
			out, err := e.start(ctx, server, "").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "is paused and has no runs until it is resumed") {
				t.Errorf("the program: %v: %s", err, out)
			}
			info := carillon(t, program, server, "job", "get", job, "-o", "json")
			if !strings.Contains(info, `"paused": true`) || !strings.Contains(info, `"@every 500ms"`) {
				t.Errorf("the job: %s", info)
			}
		})
	}
}
