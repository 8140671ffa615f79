package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/embedded"
	"github.com/carillon-io/carillon/testkit"
)

// victimDir is the variable that makes this test binary a program with a scheduler in the directory, which puts
// jobs and says so until somebody kills it.
const victimDir = "CARILLON_TEST_VICTIM"

func beVictim(dir string) {
	s, err := embedded.Open(dir, embedded.Options{Handlers: handlers{
		"hang": func(_ context.Context, run embedded.Run) error {
			fmt.Printf("began %s %d\n", run.ID, run.Fence)
			select {}
		},
		"quick": succeed,
	}})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	ctx := context.Background()
	job := yearly("hangs", "hang")
	if _, _, err := s.Put(ctx, job); err != nil {
		fmt.Println("error", err)
		return
	}
	if _, err := s.Trigger(ctx, client.TriggerRequest{Name: "hangs"}); err != nil {
		fmt.Println("error", err)
		return
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("job-%d", i)
		if _, _, err := s.Put(ctx, yearly(name, "quick")); err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("put", name)
	}
}

// TestKillLosesNothing kills a program with SIGKILL in the middle of its work: what it was told to be durable
// is there, and the run that a handler had in hand is handed out again, under the same id and a higher
// fence.
func TestKillLosesNothing(t *testing.T) {
	dir := t.TempDir()
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), victimDir+"="+dir)
	out, err := victim.StdoutPipe()
	if err == nil {
		err = victim.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = victim.Process.Kill() }()

	var acknowledged []string
	var began string
	var fence uint64
	lines := bufio.NewScanner(out)
	killed := false
	for lines.Scan() { // to the end: what it said before it died counts
		switch word, rest, _ := strings.Cut(lines.Text(), " "); word {
		case "put":
			acknowledged = append(acknowledged, rest)
		case "began":
			_, _ = fmt.Sscan(rest, &began, &fence)
		default:
			t.Fatal(lines.Text())
		}
		if !killed && len(acknowledged) >= 200 && began != "" {
			killed = true
			if err := victim.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = victim.Wait() // it was killed
	if !killed {
		t.Fatal("the program ended by itself")
	}

	again := make(chan embedded.Run, 1)
	s := open(t, dir, embedded.Options{Handlers: handlers{
		"hang":  func(_ context.Context, run embedded.Run) error { again <- run; return nil },
		"quick": succeed,
	}})
	if run := testkit.Receive(t, again); run.ID != began || run.Fence <= fence || run.Job != "hangs" {
		t.Errorf("handed out again: %+v; want run %s with a fence above %d", run, began, fence)
	}
	runWith(t, s, began, "succeeded")
	for _, name := range acknowledged {
		if _, err := s.Get(t.Context(), name); err != nil {
			t.Errorf("%s was put, and is lost: %v", name, err)
		}
	}
}
