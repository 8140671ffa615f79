// Package daybook keeps how late launches were in each minute of the last 24 hours. It survives restarts: it is for
// people who look in the morning at what happened at night, also if the process has ended in between.
//
// # The file
//
// A [Book] is one file of constant size: a header, and a ring of 1,440 records, one for each minute of a day. A record is
// written in place once a minute, and its minute says where. So the file never grows, and a write touches 64 bytes.
// docs/format/daybook.md has the bytes.
//
// # What a crash leaves
//
// Records are not synced one by one, so that the daybook never competes with the log for the disk: after the crash of
// the process nothing is missing but the minute in progress, and after that of the machine perhaps some minutes more. A
// record that was written in part fails its checksum, and counts as none. No promise of the scheduler depends on the file:
// if it cannot be used, the server runs without it.
package daybook
