package main

import (
	"fmt"
	"reflect"
	"regexp"

	"github.com/alecthomas/kong"
)

// The numbers of flags and arguments. The parser would take 010 for 8, 0x10 for 16 and 1_000 for 1000, and a person who writes
// 010 means ten.
var (
	wholeNumber    = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	fractionNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// decimalNumbers are the options of a parser that takes numbers in decimal only: for each flag, argument and variable of a kind of
// number, alone or in a list. What is a decimal number is read as before.
func decimalNumbers() (options []kong.Option) {
	usual := kong.NewRegistry().RegisterDefaults()
	add := func(t reflect.Type, form *regexp.Regexp) {
		options = append(options, kong.KindMapper(t.Kind(), decimal{usual.ForType(t), form}))
	}
	for _, t := range []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
	} {
		add(t, wholeNumber)
	}
	add(reflect.TypeFor[float32](), fractionNumber)
	add(reflect.TypeFor[float64](), fractionNumber)
	return options
}

// decimal reads a number of a form.
type decimal struct {
	usual kong.Mapper
	form  *regexp.Regexp
}

// Decode implements kong.Mapper. What is no text, such as the end of the command line, is left to the usual mapper.
func (d decimal) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if text, is := ctx.Scan.Peek().Value.(string); is && ctx.Scan.Peek().IsValue() && !d.form.MatchString(text) {
		if d.form == fractionNumber {
			return fmt.Errorf("%q is no number; want decimal digits, such as 0.5", clip(text))
		}
		return fmt.Errorf("%q is no number; want decimal digits without a leading zero, such as 8", clip(text))
	}
	return d.usual.Decode(ctx, target)
}

// refuseTwice refuses a flag that has one value and is given twice on the command line: one of the two values would be ignored,
// and perhaps the one that is meant.
func refuseTwice(command *kong.Context) error {
	seen := make(map[*kong.Flag]bool)
	for _, p := range command.Path {
		f := p.Flag
		if f == nil || p.Resolved || f.IsCumulative() {
			continue
		}
		if seen[f] {
			return usagef("--%s is given twice; want it once", f.Name)
		}
		seen[f] = true
	}
	return nil
}
