// Package embedded is Carillon inside a Go program: the engine of the server with its log and its store in
// a directory, and no server and no connection to NATS beside it. Jobs call functions of the program, or
// web hooks.
//
//	s, err := embedded.Open("data", embedded.Options{
//		Handlers: map[string]embedded.Handler{"invoice": sendInvoice},
//	})
//	...
//	_, _, err = s.Put(ctx, embedded.Job{
//		Name: "invoices", Schedule: "0 8 1 * *", Timezone: "Europe/Berlin", Target: embedded.Call("invoice"),
//	})
//
// A [Scheduler] is a [client.Client]: whatever the Go client asks a server for, it does in the process, with
// the same checks, errors and types. The directory is that of a server, so that `carillon serve` may open it
// when the program has closed it, and the other way round.
//
// # What is promised
//
// The same as by the server. A job that Put returned is on disk. Each tick of a schedule ends in one recorded
// decision. A run that fires is handed to its handler at least once, under an id that never changes: again
// after an error, a panic or a timeout, as the job's retry policy says, and again after a crash, with the
// policy's blessing or without, because nobody knows how far the handler had come. A handler that must not
// do its work twice keeps [Run.ID], and one whose effects may meet those of an earlier attempt hands
// [Run.Fence] on to whatever it writes to.
//
// # Tests
//
// [NewTest] opens a scheduler whose clock the test moves: a year of a schedule takes milliseconds.
package embedded
