// Command packages makes a .deb and a .rpm from each archive for Linux of a release, and adds them to its checksums.
//
//	go run . --version v1.2.0 --time 1764547200 --dist ../../dist
//
// It compiles nothing: the files come from the archives that deploy/release has written, so a package has the same binary
// as the archive. The same archives, version and time give the same bytes. A package installs the binary, its manual page
// and completions, the units of systemd with the user of the server, and the files of settings, which an upgrade keeps
// as their owner has changed them. It starts no service: that is the owner's decision, as docs/install.md says. An
// upgrade restarts the services that run.
//
// contents.go says which file goes where, archive.go reads an archive, checksums.go adds to SHA256SUMS, and scripts/ has
// what runs on the machine at an installation and a removal. The packages themselves are written by nfpm. It is a module
// of its own, so that nfpm is no dependency of the server.
package main
