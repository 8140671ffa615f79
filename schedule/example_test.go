package schedule_test

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/schedule"
)

// A time that the spring change skips runs once, at the end of the gap, and the preview says so.
func ExampleSchedule_Preview() {
	s, err := schedule.Parse(schedule.Spec{Expr: "30 2 * * *", Zone: "America/New_York"})
	if err != nil {
		fmt.Println(err)
		return
	}
	after := instant.Of(time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC))
	times, notes, err := s.Preview(context.Background(), after, 0, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(times[0])
	fmt.Println(times[1])
	fmt.Println(notes[0])
	// Output:
	// 2026-03-08T07:00:00.000Z
	// 2026-03-09T06:30:00.000Z
	// 02:30 does not exist on 2026-03-08 in America/New_York; runs at 03:00 EDT
}

// An error says what would be right.
func ExampleParse() {
	_, err := schedule.Parse(schedule.Spec{Expr: "0 22-2 * * *"})
	fmt.Println(err)
	// Output: schedule: hour field "22-2" wraps around; want 22-23,0-2
}

// The ticks of an @every lie on a fixed grid, whatever instant the search begins at.
func ExampleSchedule_Next() {
	s, err := schedule.Parse(schedule.Spec{Expr: "@every 90s"})
	if err != nil {
		fmt.Println(err)
		return
	}
	anchor := instant.Of(time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC))
	tick, _ := s.Next(anchor+100_000, anchor)
	fmt.Println(tick)
	// Output: 2026-12-01T08:03:00.000Z
}
