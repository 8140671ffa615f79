// Command release builds the files of a release: for each platform an archive and an SPDX document of
// the modules in its binary, and the checksums of all of them.
//
//	go run ./deploy/release --version v1.2.0 --time 1764547200 --out dist
//
// The same sources, version, time and Go give the same bytes, in any directory and on any machine. So a
// user can check a release: build it again and compare.
//
//   - Binaries: -trimpath, no cgo, no stamp of the version control; this program sets the environment variables
//     that change the generated code.
//   - Manual page: written by a binary for this machine, from the grammar of the command line.
//   - Archives: entries in a fixed order, with one time, no owner, and fixed modes. Gzip has no name and no time.
//   - SPDX: everything in it is read from the binary or is a parameter.
//   - Licences: the texts in the module cache, whose content go.sum fixes, in a fixed order.
//
// main.go has the command line and the order of the work, build.go calls the compiler and collects the files of an
// archive, archive.go packs them, licences.go collects the licences, bill.go writes the SPDX document, and image.go writes
// the files of the container image instead (--image). It signs nothing and uploads nothing: both are
// steps of their own, with keys and rights that this program does not need.
package main
