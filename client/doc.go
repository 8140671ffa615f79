// Package client is the Go client of Carillon: it registers jobs and reads what became of them, over
// NATS. It speaks the API and shares nothing else with the server; the messages of the API are its
// types, and the server answers with the very same ones.
//
// A [Client] asks the leader with NATS requests. An answer that refuses is an [*Error], whose code is
// also in its chain, so that errors.Is(err, client.CodeNotFound) works.
package client
