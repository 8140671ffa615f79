// Carillon is a durable job scheduler in one program: it serves, shows itself off, and is the command
// line to a server that runs elsewhere. `carillon --help` lists its commands.
//
// Flags, environment variables and signals exist only here; what they set is handed to the packages
// of the module as options. Each group of commands has a file; what they share is in console.go (where
// text goes), form.go (JSON and YAML), table.go, screen.go (colours and widths), watch.go, progress.go,
// errors.go (what a failure says) and remote.go (the way to a server). Completion and the manual page are
// made of the same grammar as --help: complete_line.go and man.go.
package main
