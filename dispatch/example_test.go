package dispatch_test

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/dispatch"
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
	d.Launch(&job.Delivery{
		Run:     job.RunID{Job: 1, At: job.MillisOf(time.Now())},
		Target:  job.Target{Kind: job.TargetHandler, Handler: "greet"},
		Payload: []byte("world"),
		Attempt: 1,
	}, func(o job.Outcome) { outcome <- o })

	fmt.Printf("error: %q\n", (<-outcome).Error)
	fmt.Println(d.Close(context.Background()))
	// Output:
	// hello, world
	// error: ""
	// <nil>
}
