// Command release builds what is handed out of one version: an archive for each platform, what each
// binary is made of (SPDX), and the checksums of all of them.
//
//	go run ./deploy/release --version v1.2.0 --time 1764547200 --out dist
//
// The same sources, the same version, the same time and the same Go give the same bytes, in whatever
// directory and on whatever machine: whoever doubts a release builds it again and compares.
//
//   - Binaries: -trimpath, no cgo, no stamp of the version control; the settings of the builder's environment
//     that change code are set here.
//   - Manual page: written by a binary for this machine, from the grammar of the command line.
//   - Archives: entries in order, with one time, no owner, and modes of our own. Gzip has no name and no time.
//   - SPDX: everything in it is read off the binary, or given.
package main
