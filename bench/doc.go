// Package bench measures the real Carillon server from outside.
//
//	carillon bench jitter|herd|saturate|scale|put|load|recover|flood|rights|cluster|all
//
// Each workload starts the server in a separate process on an empty data directory. Another process
// receives the runs. All of them communicate over loopback and share the machine, so the figures include
// the cost of the clients.
//
//	jitter     one-shots and intervals against a receiver: arrival minus scheduled time
//	herd       many jobs due in the same millisecond: time to the last, and the lateness of another tenant
//	saturate   jitter at rising rates, until 1 % of the runs is later than a bound
//	scale      jitter with 10,000 jobs armed, then ten times as many, and so on
//	put        one registration a request, each durable: one client, then many
//	load       many registrations a request, sustained; then memory and disk
//	recover    SIGKILL with all of them loaded; time until the server is ready again
//	flood      one tenant sends noise of several kinds: what another tenant's registrations, reads and runs see of it
//	rights     the cost of rights: registrations at an open server and at one with rights, in turns
//	cluster    the cost of replication: registration and lateness compared with a single server, the standby's speed
//
// # How figures are made
//
// Percentiles are exact: the harness keeps all samples, sorts them, and reads them by nearest rank.
// Lateness is open loop: it counts from the scheduled time of a run, even if earlier runs were late. The
// figures of a server that loses runs would be worthless, so each workload also checks the results, and
// the exit status is 1 if any run is early, lost or doubled.
//
// The harness first measures the time of an fsync in the same directory, because every durable figure
// depends on it.
//
// # The files of the package
//
// cli.go has the grammar and runs one workload on a stand (stand.go), which knows where to put data and text. Each
// workload has a file of its name: jitter.go with fire.go and window.go, herd.go, saturate.go, scale.go with draw.go,
// put.go, load.go with mix.go and bare_load.go, recover.go with bare_scan.go, outage.go, proof.go, flood.go with
// bystander.go, noise.go and noise_mix.go,
// rights.go; tokens.go writes a file of rights; the files cluster*.go compare a
// cluster with a server alone. server.go starts and ends servers, receive.go is the receiving process, and meter.go,
// pauses.go, limits.go and machine.go measure what surrounds them. A workload adds figures to a result (result.go,
// samples.go).
//
// # Honesty
//
// What would flatter the product is avoided: the figures include the way to the receiver, whatever is late counts, a
// window that began too late is an error, and the processor time of other processes is printed beside the figures,
// since a busy machine makes them worthless.
package bench
