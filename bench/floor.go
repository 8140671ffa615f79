package bench

import (
	"runtime"
	"time"
)

// floorEvery is how long the bare program sleeps.
const floorEvery = 2 * time.Millisecond

// startFloor measures the machine beside a workload: how much later than asked a thread wakes that only sleeps. Nothing that
// a server does can be on time more often than this. The result ends the measurement, and returns the delays.
func startFloor() func() samples {
	stop, result := make(chan struct{}), make(chan samples)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		var late samples
		for !isClosed(stop) {
			began := time.Now()
			time.Sleep(floorEvery)
			late = append(late, max(0, time.Since(began)-floorEvery))
		}
		result <- late
	}()
	return func() samples {
		close(stop)
		return <-result
	}
}
