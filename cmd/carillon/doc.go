// Carillon is a durable job scheduler in one program: the server, a demo, and the command line for a server that runs
// elsewhere. `carillon --help` lists its commands.
//
// Flags, environment variables and signals exist only here, but for the variables that describe a terminal (package
// terminal); what they set is passed to the packages of the module as options. Each group of commands has a file. The
// commands share console.go (where text goes), form.go (JSON and YAML), form_text.go (texts in YAML), style.go (tables
// and colours), progress.go, watch.go, errors.go (what a failure says) and remote.go (the way to a server). Completion
// and the manual page are made from the same grammar as --help: complete_line.go and man.go.
//
// # The path of a command
//
// main.go parses the command line into the fields of one command and calls its Run with a console and a context. A
// command for a server connects by remote.go, makes its requests through package client, and prints a table or a
// document. What a command prints as its result goes to the standard output and everything else to the standard error,
// so that a pipe never carries a remark. serve is the exception that connects to nothing: it fills server.Options,
// tunes the runtime (runtime.go, memory.go) and waits for a signal (signals.go).
//
// The commands are run by one goroutine each and end with their context, which the first Ctrl-C ends; serve and bench
// handle signals themselves. They keep no state between two calls.
//
// # What it does not do
//
// No rule of the product is decided here: a rule that is checked before a request, such as that of a job in a file, is
// the server's own code (check.go), and the server checks it again.
package main
