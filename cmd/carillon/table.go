package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// cellWidthMin is what is left at least of a cell that is cut.
const cellWidthMin = 8

// columnGap is the space between two columns.
const columnGap = 2

// The columns that may be cut when a table is wider than the terminal, and those that have a status.
// What is not cut is what people copy, and what is short anyway.
var (
	flexibleTitles = []string{"SCHEDULE", "TARGET", "WHY", "WHAT", "ERROR", "PAYLOAD", "DESCRIPTION", "BY", "FROM"}
	statusTitles   = []string{"STATUS", "LAST RUN"}
	statusPairs    = []string{"status", "role", "verdict"}
)

// table aligns columns. Its rows are held until flush, so it is for what fits a screen or a page.
type table struct {
	w      io.Writer
	screen screen
	titles []string
	titled bool // the titles are out
	rows   [][]string
}

// table returns a table on the standard output with the given column titles, or none.
func (c *console) table(titles ...string) *table {
	return &table{w: c.out, screen: c.screen, titles: titles}
}

// table returns one on the standard output, by way of the buffer.
func (o *output) table(titles ...string) *table {
	return &table{w: o, screen: o.con.screen, titles: titles}
}

// row adds a row. Control characters in a cell, which would break the table or the terminal, are made
// visible.
func (t *table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = printable(orDash(cell))
	}
	t.rows = append(t.rows, cells)
}

// pair adds a row of a name and its value.
func (t *table) pair(name, value string) { t.row(name, value) }

// flush prints the rows, the first time below the titles. Columns are aligned anew each time.
func (t *table) flush() error {
	var b strings.Builder
	widths := t.widths()
	if len(t.titles) > 0 && !t.titled {
		t.write(&b, t.titles, widths, func(int) string { return bold })
	}
	for _, row := range t.rows {
		t.write(&b, row, widths, func(i int) string { return t.style(row, i) })
	}
	t.titled, t.rows = true, nil
	if _, err := io.WriteString(t.w, b.String()); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// widths returns how wide each column is: as its widest cell, unless the terminal is too narrow for that.
func (t *table) widths() (widths []int) {
	measure := func(row []string) {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], textWidth(cell))
		}
	}
	if !t.titled {
		measure(t.titles)
	}
	for _, row := range t.rows {
		measure(row)
	}
	if t.screen.width > 0 && len(t.titles) > 0 {
		narrow(widths, t.screen.width, func(i int) bool { return slices.Contains(flexibleTitles, t.titles[i]) })
	}
	return widths
}

// narrow takes from the widest column that may be cut, again and again, until a row fits or none is left
// to take from.
func narrow(widths []int, most int, flexible func(i int) bool) {
	over := columnGap*(len(widths)-1) - most
	for _, width := range widths {
		over += width
	}
	for ; over > 0; over-- {
		widest := -1
		for i, width := range widths {
			if flexible(i) && width > cellWidthMin && (widest < 0 || width > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// write appends a line, without blanks at its end.
func (t *table) write(b *strings.Builder, row []string, widths []int, style func(i int) string) {
	for i, cell := range row {
		cell = cutText(cell, widths[i])
		b.WriteString(t.screen.paint(style(i), cell))
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-textWidth(cell)+columnGap))
		}
	}
	b.WriteByte('\n')
}

// style returns the style of a cell; "" is none.
func (t *table) style(row []string, i int) string {
	hasStatus := i == 1 && len(t.titles) == 0 && slices.Contains(statusPairs, row[0])
	if i < len(t.titles) {
		hasStatus = slices.Contains(statusTitles, t.titles[i])
	}
	if !hasStatus {
		return ""
	}
	return statusStyle(row[i])
}
