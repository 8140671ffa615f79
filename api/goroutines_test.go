package api

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// goroutinesOf counts the goroutines that are in serve.
func goroutinesOf() int {
	all := make([]byte, 1<<20)
	return strings.Count(string(all[:runtime.Stack(all, true)]), "api.(*goroutines).serve(")
}

// TestGoroutinesAreKept: each function is called once, on a goroutine that waits if there is one; at most idleMax wait, and
// none after the end, which keeps no function from being called.
func TestGoroutinesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGoroutines()
		var mu sync.Mutex
		called := make(map[int]int)
		burst := func(from, n int) {
			hold := make(chan struct{})
			for i := range n {
				g.run(func() {
					<-hold
					mu.Lock()
					defer mu.Unlock()
					called[from+i]++
				})
			}
			close(hold)
			synctest.Wait()
		}
		for _, c := range []struct{ from, n, idle int }{{0, 10, 10}, {1000, 10, 10}, {2000, 3 * idleMax, idleMax}, {3000, 1, idleMax}} {
			if burst(c.from, c.n); goroutinesOf() != c.idle {
				t.Errorf("after %d functions at a time %d goroutines are there; want %d", c.n, goroutinesOf(), c.idle)
			}
		}
		g.end()
		synctest.Wait()
		burst(4000, 5)
		if left := goroutinesOf(); left != 0 {
			t.Errorf("%d goroutines are there after the end", left)
		}
		if len(called) != 10+10+3*idleMax+1+5 {
			t.Errorf("%d functions were called; want all", len(called))
		}
		for i, n := range called {
			if n != 1 {
				t.Errorf("function %d was called %d times", i, n)
			}
		}
	})
}

// TestGoroutinesKeepNoRequest: what an idle goroutine has carried out is garbage.
func TestGoroutinesKeepNoRequest(t *testing.T) {
	g := newGoroutines()
	defer g.end()
	freed := make(chan struct{})
	func() {
		request := new([1 << 20]byte)
		runtime.AddCleanup(request, func(struct{}) { close(freed) }, struct{}{})
		done := make(chan struct{})
		g.run(func() {
			request[0] = 1
			close(done)
		})
		<-done
	}()
	for {
		runtime.GC()
		select {
		case <-freed:
			return
		default:
			runtime.Gosched()
		}
	}
}
