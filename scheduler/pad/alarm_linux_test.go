package pad

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// TestRingAfterClose: an attempt that ends after the pad was disarmed rings an alarm that is closed. The number of its
// counter may belong to another file by then, which must not be written to.
func TestRingAfterClose(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(t.TempDir() + "/other")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if int(f.Fd()) != a.fd {
		t.Skip("another test took the number of the counter first")
	}
	a.ring()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the other file has %d bytes, %v", info.Size(), err)
	}
}

// TestSleepsEnd: a sleep of any length ends when its time is over, and sooner if the alarm rings meanwhile or rang before.
func TestSleepsEnd(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.close() }()
	for _, quiet := range []bool{false, true} {
		a.hasSpareProcs = quiet
		for _, d := range []time.Duration{100 * time.Microsecond, quietMost, 10 * time.Millisecond} {
			began := time.Now()
			for time.Since(began) < d { // a signal may interrupt a sleep
				a.sleep(d - time.Since(began))
			}
			if a.ring(); !a.poll(d) {
				t.Errorf("quiet %t: a ring before the sleep of %s is lost", quiet, d)
			}
			a.sleep(time.Minute) // it takes the ring back
			if a.poll(d) {
				t.Errorf("quiet %t: the alarm rings for ever", quiet)
			}
		}
		time.AfterFunc(time.Millisecond, a.ring)
		for !a.pollQuietly(time.Minute) {
		}
		a.sleep(time.Minute)
	}
}

// TestQuietSleepStopsForTheWorld: the collector, which stops the world, does not wait for a quiet sleep.
func TestQuietSleepStopsForTheWorld(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.close() }()
	ended := make(chan bool)
	go func() {
		for !a.pollQuietly(time.Minute) {
		}
		close(ended)
	}()
	began := time.Now()
	for range 20 {
		runtime.GC()
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("twenty collections took %s", took)
	}
	a.ring()
	<-ended
}
