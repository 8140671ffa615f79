package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// lineBytesMax bounds a line of JSON lines: the largest payload in base64, and room for the other fields. It is also
// the size of the buffer, so it bounds the memory of a reader.
const lineBytesMax = 2 << 20

// errLineTooLong says that a line was skipped.
var errLineTooLong = fmt.Errorf("the line has more than %d bytes, which is the limit", lineBytesMax)

// lineReader reads lines of bounded length. A line that is too long is skipped and not an end, because the others are
// still good.
type lineReader struct {
	// r has a buffer of exactly the longest line, which is how a longer one is noticed.
	r      *bufio.Reader
	number int // of the line that next returned last
}

// newLineReader returns a reader at the first line. It allocates its buffer at once.
func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, lineBytesMax)}
}

// next returns the next line without the blanks around it. The slice is valid until the next call. The error is io.EOF at
// the end, or errLineTooLong for a line that was skipped, after which next can be called again.
func (l *lineReader) next() ([]byte, error) {
	l.number++
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		// The rest of the line is read and dropped, so that the next call begins with a line.
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.r.ReadSlice('\n')
		}
		if err == nil || err == io.EOF {
			err = errLineTooLong
		}
		return nil, err
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	return bytes.TrimSpace(line), err
}

// readJobLines passes the jobs and the refused lines of a file of JSON lines to a sink. Empty lines are passed
// over, so that files can be joined.
func readJobLines(con *console, file string, sink *jobSink) error {
	in, closeFile, err := con.open(file)
	if err != nil {
		return err
	}
	defer closeFile()
	lines := newLineReader(in)
	for {
		line, err := lines.next()
		at := place{showFile(file), lines.number}
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errLineTooLong):
			sink.refuse(at, err.Error())
			continue
		case err != nil:
			return fmt.Errorf("%s: line %d: %w", at.file, at.line, err)
		case len(line) == 0:
			continue
		}
		j, err := decodeJob(line)
		if err != nil {
			sink.refuse(at, err.Error())
		} else if err := sink.take(at, j); err != nil {
			return err
		}
	}
}

// decodeJob reads a job as its owner writes it, or as the server returns it; the fields that the server adds are dropped.
// The error is for the author of the text. Members that no job has are refused, because a misspelled one would
// otherwise become a default.
func decodeJob(text []byte) (client.Job, error) {
	var info client.JobInfo
	if err := json.Unmarshal(text, &info, json.RejectUnknownMembers(true)); err != nil {
		return client.Job{}, explainJSON(err)
	}
	if info.PayloadOmitted {
		return info.Job, errors.New("its payload was left out (payload_omitted): put it back first")
	}
	return info.Job, nil
}

// explainJSON rewrites an error of the decoder for the author of a job: it names fields as the API does. The words of
// the decoder name Go types, which say nothing to the author of a file.
func explainJSON(err error) error {
	semantic := (*json.SemanticError)(nil)
	if !errors.As(err, &semantic) {
		if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
			return fmt.Errorf("is not JSON: %w at byte %d", syntax.Err, syntax.ByteOffset+1)
		}
		return fmt.Errorf("is not JSON: %w", err)
	}
	field := fieldPath(semantic.JSONPointer)
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("%s: no field of a job has this name", field)
	case field == "":
		return errors.New("is no job; want one JSON object")
	case semantic.Err != nil:
		return fmt.Errorf("%s: %w", field, semantic.Err)
	}
	return fmt.Errorf("%s: a JSON %s cannot stand here; want %s", field, semantic.JSONKind, wantedFor(semantic.GoType))
}

// wantedFor says which JSON is read into a type.
func wantedFor(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return "another value"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t == reflect.TypeFor[[]byte]():
		return "a text in base64"
	case t.Kind() == reflect.Slice:
		return `a list, such as ["a","b"]`
	case t.Kind() == reflect.Map, t.Kind() == reflect.Struct:
		return "an object"
	case t.Kind() == reflect.String:
		return "a text"
	}
	return "a number"
}

// fieldPath returns a JSON pointer such as /retry/max_age as the API names a field: retry.max_age.
func fieldPath(p jsontext.Pointer) string {
	var b []byte
	for token := range p.Tokens() {
		if len(b) > 0 {
			b = append(b, '.')
		}
		b = append(b, clip(token)...)
	}
	return terminal.Printable(string(b))
}
