// Package dashboard serves the web pages of a server. The server makes them from requests of package
// client. All pages and actions work without JavaScript. A small script only replaces the parts of a
// page that change, as the server sends them.
//
// A page is a function that reads the data it needs and returns a view. The view names its template, and
// those templates within it that are live. The stream of a page calls the same function again and sends
// the live templates whose text has changed. So the first page and its updates always come from the same
// code.
//
// The package recognizes no reader by itself: [Options.Rights] says who reads a page, and the server decides what they may do. A page
// only leaves out what would be refused. Without Rights every client that can connect to the port may do everything.
//
// routes.go has the table of pages and actions, with the right that each needs; each page is in the file of its noun,
// with the type of its content. visit.go is one request, view.go renders, live.go streams, recorder.go and spread.go
// collect what chart.go draws, format.go and job_text.go make texts, assets.go has the static files.
//
// Everything is read and changed through a [client.Local]; only the charts read the status of the engine directly,
// because they need its histograms. The package keeps no state but the samples of the charts: a page is made anew
// from the engine's data at each visit.
//
// # Concurrency
//
// Each request has a goroutine of net/http, and each stream keeps it for minutes, so their number is bounded. The
// recorder, which one goroutine fills, has a lock; everything else is made for one request.
package dashboard
