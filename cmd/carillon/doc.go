// Carillon is a durable job scheduler in one program: the server, a demo, and the command line for a server that runs
// elsewhere. `carillon --help` lists its commands.
//
// Flags, environment variables and signals exist only here, but for the variables that describe a terminal (package
// terminal); what they set is passed to the packages of the module as options. Each group of commands has a file. The
// commands share console.go (where text goes), form.go (JSON and YAML), style.go (tables and colours), progress.go,
// watch.go, errors.go (what a failure says) and remote.go (the way to a server). Completion and the manual page are made
// from the same grammar as --help: complete_line.go and man.go.
package main
