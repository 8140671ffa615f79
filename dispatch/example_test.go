package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

func ExampleDispatcher_Launch() {
	d, err := dispatch.New(dispatch.Options{
		Handlers: map[string]dispatch.Handler{
			"greet": func(_ context.Context, d *job.Delivery) error {
				fmt.Printf("hello, %s\n", d.Payload)
				return nil
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	outcome := make(chan job.Outcome, 1)
	run := &job.Delivery{
		Run:     job.RunID{Job: 1, At: instant.Of(time.Now())},
		Target:  job.Target{Kind: job.TargetHandler, Handler: "greet"},
		Payload: []byte("world"),
		Attempt: 1,
	}
	d.Reserve(run.Lane(), len(run.Payload), nil) // no other attempt uses the place
	d.Launch(run, func(o job.Outcome) { outcome <- o })

	fmt.Printf("error: %q\n", (<-outcome).Error)
	fmt.Println(d.Close(context.Background()))
	// Output:
	// hello, world
	// error: ""
	// <nil>
}

// A handler says what happens to a run that it does not accept.
func ExampleRefuse() {
	charge := func(_ context.Context, d *job.Delivery) error {
		switch string(d.Payload) {
		case "":
			return dispatch.Refuse(errors.New("no amount")) // another attempt would fail too
		case "maintenance":
			return dispatch.RetryAfter(errors.New("the bank is closed"), time.Hour)
		}
		return nil
	}
	d, err := dispatch.New(dispatch.Options{Handlers: map[string]dispatch.Handler{"charge": charge}})
	if err != nil {
		fmt.Println(err)
		return
	}
	outcome := make(chan job.Outcome, 1)
	for _, payload := range []string{"", "maintenance"} {
		run := &job.Delivery{
			Target:  job.Target{Kind: job.TargetHandler, Handler: "charge"},
			Payload: []byte(payload),
		}
		d.Reserve(run.Lane(), len(run.Payload), nil)
		d.Launch(run, func(o job.Outcome) { outcome <- o })
		o := <-outcome
		fmt.Println(o.Error, o.Refused, o.RetryAfter)
	}
	fmt.Println(d.Close(context.Background()))
	// Output:
	// no amount true 0s
	// the bank is closed false 1h0m0s
	// <nil>
}
