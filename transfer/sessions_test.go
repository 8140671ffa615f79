package transfer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// TestPlacesHoldWhileCopiesAreMade: of many requests at the same moment as many are accepted as there are places, although
// no session is open yet. The others learn at once that there is no place.
func TestPlacesHoldWhileCopiesAreMade(t *testing.T) {
	s, export, root := sessionsIn(t, testOptions, small)
	var exports atomic.Int32
	goOn := make(chan struct{})
	slow := func(ctx context.Context, name string) (string, int, error) {
		exports.Add(1)
		<-goOn
		return export(ctx, name)
	}
	var refused atomic.Int32
	answers := make(chan made, 20)
	var asked sync.WaitGroup
	for range 20 {
		asked.Go(func() {
			s.Make(slow, func(n *Session[int], err error) {
				if errors.Is(err, ErrFull) {
					refused.Add(1)
					return
				}
				answers <- made{n, err}
			})
		})
	}
	asked.Wait()
	if n := refused.Load(); n != 18 {
		t.Errorf("%d of 20 requests were refused, want 18", n)
	}
	close(goOn)
	one, two := <-answers, <-answers
	if one.err != nil || two.err != nil || one.session.Name == two.session.Name || exports.Load() != 2 {
		t.Fatalf("%+v and %+v from %d copies", one, two, exports.Load())
	}
	if _, err := makeOne(s, export); !errors.Is(err, ErrFull) {
		t.Errorf("a third session beside two open ones: %v", err)
	}
	s.Drop(one.session.Name)
	s.Drop(one.session.Name) // a second time does nothing
	mustMake(t, s, export)
	if _, err := makeOne(s, export); !errors.Is(err, ErrFull) {
		t.Errorf("a session was dropped twice and made two places: %v", err)
	}
	if names := left(t, root); len(names) != 2 {
		t.Errorf("two sessions are open, and there are %v", names)
	}
}

// TestFailedCopyLeavesNothing: a copy that fails, or that cannot be sent, frees its place, and nothing of it is on disk.
func TestFailedCopyLeavesNothing(t *testing.T) {
	s, export, root := sessionsIn(t, testOptions, small)
	failure := errors.New("the disk is full")
	many := testOptions.FilesMost + 1
	for range 2 * testOptions.Places {
		_, err := makeOne(s, func(ctx context.Context, name string) (string, int, error) {
			dir, info, err := export(ctx, name)
			return dir, info, errors.Join(err, failure)
		})
		if !errors.Is(err, failure) {
			t.Errorf("a copy that fails: %v", err)
		}
		_, err = makeOne(s, func(ctx context.Context, name string) (string, int, error) {
			dir, info, err := export(ctx, name)
			for i := range many - 1 {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, string(rune('b'+i))), nil, 0o600))
			}
			return dir, info, err
		})
		if e, ok := errors.AsType[*ManyFilesError](err); !ok || e.Files != many || e.Most != testOptions.FilesMost {
			t.Errorf("a copy of %d files: %v", many, err)
		}
		if _, err := makeOne(s, func(context.Context, string) (string, int, error) { return "", 0, failure }); !errors.Is(err, failure) {
			t.Errorf("a copy without a directory: %v", err)
		}
	}
	if names := left(t, root); len(names) > 0 {
		t.Errorf("%v is left", names)
	}
}

// TestMakeTime: a copy that takes too long ends.
func TestMakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := sessionsIn(t, testOptions, nil)
		began := time.Now()
		_, err := makeOne(s, func(ctx context.Context, _ string) (string, int, error) {
			<-ctx.Done()
			return "", 0, ctx.Err()
		})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != testOptions.MakeTime {
			t.Errorf("it ended after %s with %v", took, err)
		}
	})
}

// TestIdleSessionEnds: a session lives as long as requests come, and ends one idle time after the last one.
func TestIdleSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, export, root := sessionsIn(t, testOptions, small)
		n := mustMake(t, s, export)
		var ends atomic.Int32
		n.OnEnd(func() { ends.Add(1) })
		for i := range 20 {
			testkit.Pass(testOptions.Idle - time.Second)
			if i%2 == 0 {
				if _, err := n.Read(0, 0, 10); err != nil {
					t.Fatalf("round %d: %v", i, err)
				}
			} else if s.Find(n.Name) != n {
				t.Fatalf("round %d: the session is gone", i)
			}
		}
		testkit.Pass(testOptions.Idle - time.Nanosecond)
		synctest.Wait()
		if ends.Load() != 0 || len(left(t, root)) != 1 {
			t.Error("it ended before its time")
		}
		testkit.Pass(time.Nanosecond)
		synctest.Wait()
		if ends.Load() != 1 || len(left(t, root)) != 0 || s.Find(n.Name) != nil {
			t.Errorf("it ended %d times, and %v is left", ends.Load(), left(t, root))
		}
		if _, err := n.Read(0, 0, 10); !errors.Is(err, ErrNoPiece) {
			t.Errorf("a read after the end: %v", err)
		}
		n.OnEnd(func() { ends.Add(1) })
		if ends.Load() != 2 {
			t.Error("a function that came after the end was not called")
		}
		for range testOptions.Places {
			mustMake(t, s, export)
		}
	})
}

// TestCloseWhileCopyIsMade: Close ends the copies being made, waits for their answers, and leaves nothing on disk, also of
// a copy that is complete all the same.
func TestCloseWhileCopyIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, export, root := sessionsIn(t, testOptions, small)
		open := mustMake(t, s, export)
		ended := false
		open.OnEnd(func() { ended = true })
		var answer *made
		s.Make(func(ctx context.Context, name string) (string, int, error) {
			dir, info, err := export(ctx, name)
			<-ctx.Done()
			testkit.Pass(time.Second) // it notices late
			return dir, info, err
		}, func(n *Session[int], err error) {
			testkit.Pass(time.Second)
			answer = &made{n, err}
		})
		synctest.Wait()
		if names := left(t, root); len(names) != 2 {
			t.Fatalf("before the end there is %v", names)
		}
		began := time.Now()
		s.Close()
		if took := time.Since(began); took != 2*time.Second || answer == nil || !errors.Is(answer.err, ErrClosed) || answer.session != nil {
			t.Errorf("closed after %s; the answer was %+v", took, answer)
		}
		if names := left(t, root); len(names) > 0 || !ended || s.Find(open.Name) != nil {
			t.Errorf("after the end there is %v; the open session has ended: %t", names, ended)
		}
		s.Close()
		if _, err := makeOne(s, export); !errors.Is(err, ErrClosed) {
			t.Errorf("a session after the end: %v", err)
		}
		s.Each(func(int) { t.Error("a session is left") })
	})
}

// TestDropWhileReading: a reader gets whole pieces until the session ends, and then no other error than ErrNoPiece.
func TestDropWhileReading(t *testing.T) {
	content := make([]byte, 100_000)
	s, export, root := sessionsIn(t, testOptions, map[string][]byte{"a": content})
	for range 50 {
		n := mustMake(t, s, export)
		var readers sync.WaitGroup
		reading := make(chan struct{}, 2)
		for range cap(reading) {
			readers.Go(func() {
				for i := 0; ; i++ {
					piece, err := n.Read(0, 10, 50_000)
					if i == 0 {
						reading <- struct{}{}
					}
					if errors.Is(err, ErrNoPiece) {
						return
					}
					if err != nil || len(piece) != 50_000 {
						t.Errorf("%d bytes, %v", len(piece), err)
						return
					}
				}
			})
		}
		<-reading
		s.Drop(n.Name)
		readers.Wait()
	}
	if names := left(t, root); len(names) > 0 {
		t.Errorf("%v is left", names)
	}
}

// TestEach: each open session is listed, with what its copy was made with.
func TestEach(t *testing.T) {
	s, export, _ := sessionsIn(t, testOptions, small)
	list := func() (infos []int) {
		s.Each(func(info int) { infos = append(infos, info) })
		slices.Sort(infos)
		return infos
	}
	info := 0
	numbered := func(ctx context.Context, name string) (string, int, error) {
		dir, _, err := export(ctx, name)
		info++
		return dir, info, err
	}
	one := mustMake(t, s, numbered)
	mustMake(t, s, numbered)
	if infos := list(); !slices.Equal(infos, []int{1, 2}) {
		t.Errorf("listed %v", infos)
	}
	s.Drop(one.Name)
	if infos := list(); !slices.Equal(infos, []int{2}) {
		t.Errorf("listed %v after one was dropped", infos)
	}
}
