// Package client is the Go client of Carillon: it registers jobs over NATS or HTTP and reads what became of
// them. Its types are the messages of the API, which the server uses too; client and server share
// nothing else.
//
// A [Client] sends requests to the leader: over NATS, or over HTTP to any node, which passes them on. [Connect]
// chooses by the URL. If the server refuses a request, the client returns an [*Error]; errors.Is finds its code, as in
// errors.Is(err, client.CodeNotFound).
//
// # Credentials
//
// On a server with rights a client shows a token ([Options].Token) or, over HTTP, a client certificate (Options.TLS).
// The token is asked for again for each HTTP request and each NATS connection, so that [TokenFile] rotates it. Over
// NATS the options of the NATS library give other credentials: [nats.UserCredentials], [nats.NkeyOptionFromSeed].
//
//	CodeUnauthenticated   the server does not know the caller ([IsUnauthenticated])
//	CodeForbidden         the caller may not do this in this tenant ([IsForbidden])
//
// Over NATS, [Connect] itself returns the first. If NATS does not let a user publish to a subject, the request fails with
// the second when its time is over, because NATS does not answer such a request.
//
// Over HTTP, [Client.Status] and [Client.Whoami] are those of the node that answers, and [Client.OpenBackup] and [Client.Handover] are missing.
//
// # While another leader takes over
//
// During a takeover no server answers for a moment. The client then sends a request again, first after
// 20 ms and then with pauses that grow to 250 ms, until the deadline of its context, or else until
// [Options.Timeout] has passed.
//
// The client repeats every request that no server can have carried out: NATS had no responders, there was no
// connection, or the answer is [CodeNotLeader]. A request may have taken effect if its answer
// is [CodeUnavailable], or has not arrived after 5 s (25 s for a bulk registration). The client repeats
// it only if carrying it out twice is as good as once:
//
//	all requests that only read          yes
//	Put, PutMany, PutAll                 yes; a job that is put twice has two more versions
//	PutIfVersion                         no: the second would find the version that the first made
//	Pause, Resume, PutCalendar           yes
//	PauseIfVersion, ResumeIfVersion      no, as PutIfVersion
//	Trigger                              with an idempotency key
//	Report, Extend                       yes: the fence protects them
//	CancelRun, Dismiss                   yes
//	Delete, DeleteCalendar               no: the name may have been put again in between
//	DeleteIfVersion                      no: the second would find no job
//	Backfill, RetryRun, RetryMany        no
//	DismissMany                          no: the second would dismiss further runs
//
// For the others the client returns an error that says that the outcome is unknown. So does the error of a request that was
// repeated and refused, because a refusal speaks of the last try alone: it has the code of the refusal, or [CodeUnavailable] if
// that was for the moment, and a Cause. While the first try is in doubt the client also repeats what is refused for its rate
// ([CodeRateLimited]). A repeated request
// may arrive twice, and the first copy may arrive after the second: a caller that changes the same job
// from several places should use PutIfVersion and the other conditional methods. With [Options.NoRetry]
// the client sends each request once.
//
// In a cluster of several shards any node answers. One that hangs keeps its share of the requests until NATS takes it for gone. There the
// first try of a request has 1 s (5 s), the second 1.7 s and the third 2.5 s; and after a try without an answer all requests of the
// client go to a node that has answered, for 30 s.
//
// # Answers of other programs
//
// A reply of a server names the request that it answers. Any other reply is an error that wraps
// [ErrForeignReply]; a common one is the acknowledgement of a JetStream stream that captures the
// server's subjects, and the error then names the stream. If the connection has a custom inbox prefix
// ([nats.CustomInboxPrefix]), only a server that was started with the same prefix (--inbox-prefix)
// answers.
//
// # The files of the package
//
// client.go has the options and sends one request over NATS, transport.go chooses the way and connects, http.go and
// http_routes.go send a request over HTTP, token.go and tls.go have the credentials, retry.go repeats it by the rules
// above, aim.go chooses the node, look.go searches for one, and reply.go judges who answered; doubt.go tells what is unknown. jobs.go, runs.go, runs_act.go, calendar.go, audit.go and handover.go have
// the methods; put_all.go splits any number of jobs into requests, backup.go fetches a copy piece by piece. message.go,
// message_run.go, job.go, run.go, status.go and whoami.go are the messages; duration.go and time.go their notations. local.go is
// the way to a scheduler in the same process.
//
// # Concurrency
//
// A [Client] has no state but its connections, and which node has answered last, so its methods may be called from any goroutine and do not wait for
// each other. Only PutAll starts goroutines, one for each request under way, which end with its context. Iterators
// read the next page when the one before is used up, so a list that changes meanwhile may show a part of the
// change.
package client
