package terminal

import (
	"fmt"
	"io"
	"strings"
)

const (
	// cellWidthMin is the columns that at least remain of a cell that is cut. A narrower cell would say nothing;
	// the row is then wider than the screen, and the terminal wraps it.
	cellWidthMin = 8
	columnGap    = 2 // blanks between two columns; one would not stand out between cells with blanks
)

// Table aligns columns. It holds its rows until Flush, so that the caller bounds how many are aligned together: a
// command that lists a million rows can flush each page, and needs the memory of one. Make one with NewTable.
//
// Without titles a table is a list: the first cell of a row names the others, and nothing is cut.
type Table struct {
	// Flexible reports whether the cells of the column with this title may be cut if a table with titles is wider than its
	// screen. What people copy should not be. Nil: no column may.
	Flexible func(title string) bool
	// Style returns the style of a cell of the column with this title. In a table without titles, the first cell of a row is
	// the title of the others. Nil: all are plain.
	Style func(title, cell string) Style

	w      io.Writer
	screen Screen     // of w; its size does not change during the life of the table
	titles []string   // none in a list of names and values
	titled bool       // the titles were written
	rows   [][]string // added since the last Flush, already printable
}

// NewTable returns a table that is written to w, for a screen, with the titles of its columns or none.
func NewTable(w io.Writer, screen Screen, titles ...string) *Table {
	return &Table{w: w, screen: screen, titles: titles}
}

// Row adds a row, which has at most as many cells as the table has titles, if it has any. An empty cell shows as a
// dash, so that the columns after it can still be counted. Control characters show as by Printable: names and errors
// come from others and must not move the cursor. Row keeps no reference to the slice.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		if row[i] = Printable(cell); cell == "" {
			row[i] = "-"
		}
	}
	t.rows = append(t.rows, row)
}

// Flush writes the rows that were added since the last Flush, the first time below the titles. The widths of the
// columns are those of these rows: they can differ from one Flush to the next. An error is that of the writer; the rows
// are gone then too. All of them are written in one call.
func (t *Table) Flush() error {
	var b strings.Builder
	widths := t.widths()
	if len(t.titles) > 0 && !t.titled {
		t.appendLine(&b, t.titles, widths, func(int) Style { return Bold })
	}
	for _, row := range t.rows {
		t.appendLine(&b, row, widths, func(i int) Style { return t.style(row, i) })
	}
	t.titled, t.rows = true, nil
	if _, err := io.WriteString(t.w, b.String()); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// widths returns the width of each column: that of its widest cell, unless the screen is too narrow.
func (t *Table) widths() (widths []int) {
	measure := func(row []string) {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	if !t.titled {
		measure(t.titles)
	}
	for _, row := range t.rows {
		measure(row)
	}
	if t.screen.Width > 0 && len(t.titles) > 0 && t.Flexible != nil {
		narrow(widths, t.screen.Width, func(i int) bool { return i < len(t.titles) && t.Flexible(t.titles[i]) })
	}
	return widths
}

// narrow takes single columns from the widest cell that may be cut, until a row fits widthMax or no cell can give more.
// So the wide cells become equal, and short ones stay whole. It takes a step for each column too much, which is fine
// for a screen: cells are short.
func narrow(widths []int, widthMax int, flexible func(i int) bool) {
	over := columnGap*(len(widths)-1) - widthMax
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

// appendLine appends a row, without blanks at its end: they would make a line wrap that fits the screen. The
// padding is computed before the style is applied, because an escape sequence takes no column.
func (t *Table) appendLine(b *strings.Builder, row []string, widths []int, style func(i int) Style) {
	for i, cell := range row {
		cell = Cut(cell, widths[i])
		b.WriteString(t.screen.Paint(style(i), cell))
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-Width(cell)+columnGap))
		}
	}
	b.WriteByte('\n')
}

// style returns the style of a cell.
func (t *Table) style(row []string, i int) Style {
	switch {
	case t.Style == nil:
		return Plain
	case i < len(t.titles):
		return t.Style(t.titles[i], row[i])
	case len(t.titles) == 0 && i > 0:
		return t.Style(row[0], row[i])
	}
	return Plain
}
