package web

import (
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
)

// takeQuery reads the parameters of a query. A parameter must not be unknown, empty or repeated, except that lists
// may repeat, so that nothing that a caller wrote is silently ignored. The parameters are read in the order of their
// names, so that of several errors the same one is always returned.
func (c *call) takeQuery(raw string) error {
	if raw == "" {
		return nil
	}
	params, err := parseQuery(raw)
	if err != nil {
		return err
	}
	// Every route has a tenant, also those whose verb ignores it.
	known := append([]string{"tenant"}, c.route.query...)
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(known, name) {
			return errUnknownParam(strings.ToValidUTF8(name, ""), known)
		}
		if err := checkParam(name, params[name]); err != nil {
			return err
		}
	}
	c.params = params
	return nil
}

// parseQuery takes a query apart.
func parseQuery(raw string) (url.Values, error) {
	params, err := url.ParseQuery(raw)
	if err != nil {
		return nil, apierr.Errorf(apierr.InvalidField, "query", "cannot be read (%s); want name=value pairs with & between them, and what is special escaped", apierr.Clip(strings.ToValidUTF8(err.Error(), "")))
	}
	return params, nil
}

// errUnknownParam returns the error for a parameter that the route does not have, with the name that was most likely
// meant.
func errUnknownParam(name string, known []string) error {
	if name == "" {
		return apierr.Errorf(apierr.UnknownField, "query", "has a parameter without a name; %s", apierr.Advice(name, known, ""))
	}
	return apierr.Errorf(apierr.UnknownField, apierr.Clip(name), "is no parameter here; %s", apierr.Advice(name, known, ""))
}

// paramKind is the JSON type that a parameter becomes. A query has only texts; the verb reads JSON. The kind says
// which JSON a text becomes.
type paramKind uint8

const (
	kindText paramKind = iota
	kindNumber
	kindBool
	// Several parameters of the same name are the elements of one list.
	kindList
	// Each is one key and its value, and all of them are one object.
	kindLabels
)

// kindOf returns the type of the member with the same name in the requests of the verbs. A name has the same type in
// all verbs; one that is not in the table is a text.
func kindOf(name string) paramKind { return paramKinds[name] }

// paramKinds has the kinds of all parameters that are not texts, from the types of the verbs' requests, so that a new
// parameter needs only its name in the table of routes.
var paramKinds = func() map[string]paramKind {
	kinds := map[string]paramKind{"label": kindLabels}
	for i := range routes {
		v := api.VerbNamed(routes[i].verb)
		if v == nil {
			continue
		}
		for _, name := range routes[i].query {
			switch v.KindOf(name) {
			case reflect.Int, reflect.Uint32, reflect.Uint64:
				kinds[name] = kindNumber
			case reflect.Bool:
				kinds[name] = kindBool
			case reflect.Slice:
				kinds[name] = kindList
			}
		}
	}
	return kinds
}()

// digits is the form of a number in a query; the verb checks its range. It becomes part of a JSON text as it is, so
// the form must be that of a JSON number.
var digits = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

// checkParam checks the form of a parameter's values.
func checkParam(name string, values []string) error {
	kind := kindOf(name)
	if n := len(values); n > 1 && kind != kindList && kind != kindLabels {
		return apierr.Errorf(apierr.InvalidField, name, "is there %d times; want it once", n)
	}
	for _, v := range values {
		switch {
		case !utf8.ValidString(v):
			return apierr.Errorf(apierr.InvalidField, name, "is no UTF-8")
		case v == "" && kind != kindLabels:
			return apierr.Errorf(apierr.InvalidField, name, "is empty; want a value, or leave the parameter out")
		case kind == kindNumber && !digits.MatchString(v):
			return apierr.Errorf(apierr.InvalidField, name, "is %q; want a whole number, such as %s=10", apierr.Clip(v), name)
		case kind == kindBool && v != "true" && v != "false":
			return apierr.Errorf(apierr.InvalidField, name, "is %q; want true or false", apierr.Clip(v))
		}
	}
	if kind == kindLabels {
		return checkLabels(values)
	}
	return nil
}

// checkLabels checks the values of label: they are pairs with different keys. The engine would see only one of two
// labels with the same key, because they become members of one object.
func checkLabels(values []string) error {
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		key, _, found := strings.Cut(v, "=")
		switch {
		case !found || key == "":
			return apierr.Errorf(apierr.InvalidField, "label", "is %q; want key=value, such as label=team=billing", apierr.Clip(v))
		case seen[key]:
			return apierr.Errorf(apierr.InvalidField, "label", "has the key %q twice; want each key once, as a job has it", apierr.Clip(key))
		}
		seen[key] = true
	}
	return nil
}

// queryObject converts the checked query into the request that it stands for. Its members are in the order of the
// route's list. The verb decodes it like a body, so a query is checked by the same code and has the same bounds.
func (c *call) queryObject() []byte {
	b := []byte{'{'}
	for _, name := range c.route.query {
		values, given := c.params[name]
		if !given {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = appendParam(b, name, values)
	}
	return append(b, '}')
}

// appendParam appends the member for a parameter. Numbers and booleans are appended as they were written, which
// checkParam has restricted to JSON.
func appendParam(b []byte, name string, values []string) []byte {
	kind := kindOf(name)
	if kind == kindLabels {
		return appendLabels(append(b, `"labels":`...), values)
	}
	b = append(append(b, quoted(name)...), ':')
	switch kind {
	case kindList:
		b = append(b, '[')
		for i, v := range values {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, quoted(v)...)
		}
		return append(b, ']')
	case kindNumber, kindBool:
		return append(b, values[0]...)
	default:
		return append(b, quoted(values[0])...)
	}
}

// appendLabels appends the object of the labels in checked values.
func appendLabels(b []byte, values []string) []byte {
	b = append(b, '{')
	for i, v := range values {
		key, value, _ := strings.Cut(v, "=")
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quoted(key)...), ':'), quoted(value)...)
	}
	return append(b, '}')
}
