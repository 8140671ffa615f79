package wheel_test

import (
	"fmt"

	"github.com/carillon-io/carillon/wheel"
)

// The caller owns the clock: it passes the time to the wheel, and sleeps until Next.
func Example() {
	w := wheel.New(1_000)
	w.Arm(1, 1_250)
	tea := w.Arm(2, 181_000)
	w.Arm(3, 1_250)
	w.Rearm(tea, 1_200)

	fire := func(id uint64, at wheel.Tick) { fmt.Println("timer", id, "at", at) }
	fired, done := w.Advance(1_300, 2, fire)
	fmt.Println("fired", fired, "done", done, "now", w.Now())
	fired, done = w.Advance(1_300, 2, fire)
	fmt.Println("fired", fired, "done", done, "now", w.Now())

	// Output:
	// timer 2 at 1200
	// timer 1 at 1250
	// fired 2 done false now 1250
	// timer 3 at 1250
	// fired 1 done true now 1300
}

// A repeating timer is armed again by its callback, here every 100 ticks.
func ExampleWheel_Advance() {
	w := wheel.New(0)
	w.Arm(7, 100)
	w.Advance(350, 1_000, func(id uint64, at wheel.Tick) {
		fmt.Println(at)
		w.Arm(id, at+100)
	})
	next, _ := w.Next()
	fmt.Println("next", next)

	// Output:
	// 100
	// 200
	// 300
	// next 400
}
