// Package terminal writes for people: tables that fit the width of a terminal, colours, progress, and texts that are
// redrawn in place. What it writes to a pipe or a file has no escape sequence and is not cut.
//
// Widths and heights are in character cells of a terminal: a letter takes one column, an East Asian character or an
// emoji two, a combining mark none (Width). The package asks the operating system about a terminal, and reads the
// environment variables by which people correct it: NO_COLOR, TERM, COLUMNS and LINES. It writes only to the writers that
// the caller passes. Nothing in it is safe for concurrent use unless it says so.
//
// A command first describes its output with ScreenOf (screen.go; file_unix.go and file_other.go ask the system). It
// then writes rows through a Table (table.go), or a whole text again and again through Frame (frame.go), and shows how
// far it is with a Progress (progress.go). Width, Cut and Printable (text.go) measure and clean what comes from
// elsewhere; Span (span.go) says a length of time. The package starts no goroutine and sets no terminal mode: a program
// that is killed leaves nothing to restore, except the second screen between Enter and Leave.
//
// It reads no keys, handles no signals, and asks no database of terminals which escape sequences are right: it uses the
// usual ones, or none.
package terminal
