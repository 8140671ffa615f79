// Package client is the Go client of Carillon: it registers jobs and reads what became of them, over
// NATS. It speaks the API and shares nothing else with the server; the messages of the API are its
// types, and the server answers with the very same ones.
//
// A [Client] asks the leader with NATS requests. An answer that refuses is an [*Error], whose code is
// also in its chain, so that errors.Is(err, client.CodeNotFound) works.
//
// # While another leader takes over
//
// For a moment nobody answers then. Requests wait: within the deadline of its context, or else within
// [Options.Timeout], a request is sent again, 20 ms later and with pauses that grow to 250 ms.
//
// A request that nobody can have carried out is sent again whatever it asks for: NATS had no responders,
// the connection was broken, or the answer is [CodeNotLeader]. One whose answer is [CodeUnavailable], or
// has not come after 5 s (25 s for a bulk registration), may have taken effect. It is sent again only
// where twice is as good as once:
//
//	all that reads                       yes
//	Put, PutMany, PutAll                 yes; a job that is put twice has two more versions
//	PutIfVersion                         no: the second would meet the version that the first made
//	Pause, Resume, PutCalendar           yes
//	PauseIfVersion, ResumeIfVersion      no, as PutIfVersion
//	Trigger                              with an idempotency key
//	Report, Extend                       yes: the fence guards them
//	CancelRun                            yes
//	Delete, DeleteCalendar               no: the name may have been put again by then
//	DeleteIfVersion                      no: the second would find no job
//	Backfill, RetryRun, RetryMany        no
//
// For the rest the error says that the outcome is unknown. A request that was sent again may arrive
// twice, and the first copy after the second: a caller who changes the same job from several places uses
// PutIfVersion and its like. [Options.NoRetry] sends every request once.
//
// # What is no answer
//
// A reply names what it answers. What else comes back, such as the acknowledgement of a JetStream stream that captures
// the server's subjects, is an error with [ErrForeignReply] in its chain, which names the stream. A connection with
// inboxes of its own ([nats.CustomInboxPrefix]) is answered by a server that was started with that prefix
// (--inbox-prefix), and by no other.
package client
