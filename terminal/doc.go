// Package terminal writes for people: tables that fit the width of a terminal, colours, progress, and texts that are
// redrawn in place. What it writes to a pipe or a file has no escape sequence and is not cut.
//
// Widths and heights are in character cells of a terminal: a letter takes one column, an East Asian character or an
// emoji two, a combining mark none (Width). The package asks the operating system about a terminal, and reads the
// environment variables by which people correct it: NO_COLOR, TERM, COLUMNS and LINES. It writes only to the writers that
// the caller passes. Nothing in it is safe for concurrent use unless it says so.
package terminal
