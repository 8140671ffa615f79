// Package embedded runs Carillon inside a Go program: the server's engine with its log and its store in
// a directory, without a server and without NATS. Jobs call functions of the program, or web hooks.
//
//	s, err := embedded.Open("data", embedded.Options{
//		Handlers: map[string]embedded.Handler{"invoice": sendInvoice},
//	})
//	...
//	_, _, err = s.Put(ctx, embedded.Job{
//		Name: "invoices", Schedule: "0 8 1 * *", Timezone: "Europe/Berlin", Target: embedded.Call("invoice"),
//	})
//
// A [Scheduler] is a [client.Client]: it carries out the client's requests in the process, with the same
// checks, errors and types as a server. Its directory has the format of a server's: `carillon serve` can
// open it after the program has closed it, and the program can open that of a server.
//
// # What is promised
//
// The same as by the server. When Put returns without an error, the job is on disk. Each tick of a
// schedule gets one recorded decision. A run that is fired is passed to its handler at least once, under
// an id that never changes. After an error, a panic or a timeout it is passed again as the job's retry
// policy says. After a crash it is passed again even if the policy allows no retry, because it is
// unknown how far the handler had come. A handler that must not do its work twice stores [Run.ID]. A
// handler whose writes could overwrite those of a later attempt passes [Run.Fence] to the system to
// which it writes.
//
// # Tests
//
// [NewTest] opens a scheduler whose clock the test moves: a year of a schedule takes milliseconds.
//
// # Inside
//
// scheduler.go opens and closes the parts: the directory (dir.go), the engine, and the door (door.go) through which
// requests come while it is open. engine.go refuses targets that the program cannot reach, handler.go calls the
// program's functions, options.go has the settings. test_clock.go, test_sender.go and memory.go replace the clock,
// the launches and the disk for tests.
package embedded
