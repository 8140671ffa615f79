package api

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// schemaForm is what a schema describes.
type schemaForm uint8

// Forms of schemas. A request allows only its own members, each of which may be null, which means absent. A reply has
// all its members, except those that may be left out, and allows others. A parameter is a value in a path or a query.
const (
	formRequest schemaForm = iota
	formReply
	formParameter
)

// Where schemas find the types that they refer to.
const (
	defsRef       = "#/$defs/"
	componentsRef = "#/components/schemas/"
)

// schemaBuilder generates schemas from the types of package client. Each struct is generated once, under its name,
// and referred to. Generated schemas follow the Go types, which are what clients decode into; what a type cannot say
// is in schema_facts.go. Not safe for concurrent use.
type schemaBuilder struct {
	form schemaForm
	refs string // prefix of a reference
	// A name is in defs before its schema is complete, which ends the recursion of types that refer to themselves.
	defs Schema // by name
}

// newSchemaBuilder returns a builder of schemas of one form, whose references have the given prefix.
func newSchemaBuilder(form schemaForm, refs string) *schemaBuilder {
	return &schemaBuilder{form: form, refs: refs, defs: Schema{}}
}

// whole adds to a schema the types that it refers to.
func (b *schemaBuilder) whole(sc Schema) Schema {
	if len(b.defs) > 0 {
		sc["$defs"] = b.defs
	}
	return sc
}

// named returns a reference to the schema of a struct.
func (b *schemaBuilder) named(t reflect.Type) Schema {
	name := b.nameOf(t)
	if _, known := b.defs[name]; !known {
		b.defs[name] = nil // types may refer to themselves
		sc := b.object(t)
		if b.form == formRequest {
			demand(sc, requestNeeds[t].all, requestNeeds[t].oneOf)
		}
		b.defs[name] = sc
	}
	return Schema{"$ref": b.refs + name}
}

// nameOf returns the name of a struct among the schemas. A type has one form in requests and another in replies.
func (b *schemaBuilder) nameOf(t reflect.Type) string {
	if b.form == formRequest && !strings.HasSuffix(t.Name(), "Request") {
		return t.Name() + "Request"
	}
	return t.Name()
}

// of returns the schema of a type. It panics on a type that no rule describes, which a test finds, because every verb
// is described at the start of each service.
func (b *schemaBuilder) of(t reflect.Type) Schema {
	if leaf, ok := leaves[t]; ok {
		return maps.Clone(leaf)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.of(t.Elem())
	case reflect.Struct:
		return b.named(t)
	case reflect.Slice:
		return Schema{"type": "array", "items": b.of(t.Elem())}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Uint32:
		return Schema{"type": "integer", "minimum": 0, "maximum": uint32(1<<32 - 1)}
	// Numbers beyond 2^53 are valid, though some readers of JSON round them.
	case reflect.Int, reflect.Uint64:
		return Schema{"type": "integer", "minimum": 0}
	}
	panic(fmt.Sprintf("api: no schema for %s", t))
}

// object is the schema of a struct with all its members.
func (b *schemaBuilder) object(t reflect.Type) Schema {
	members, required := Schema{}, []string{}
	b.addMembers(t, members, &required)
	sc := Schema{"type": "object", "properties": members}
	switch {
	case b.form == formRequest:
		sc["additionalProperties"] = false
	case len(required) > 0:
		sc["required"] = required
	}
	return sc
}

// addMembers adds the members of a struct, those of embedded structs as its own, as they are in JSON. Members that
// a request ignores appear as read-only and without a type, because their values are skipped unread.
func (b *schemaBuilder) addMembers(t reflect.Type, members Schema, required *[]string) {
	// Without them a caller that validates could not put a job as it got it.
	if b.form == formRequest && t == reflect.TypeFor[client.Job]() {
		for _, name := range replyOnly {
			members[name] = Schema{"readOnly": true}
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, omit := tagOf(f)
		switch {
		case name == "-":
		case f.Anonymous:
			b.addMembers(f.Type, members, required)
		default:
			members[name] = b.member(t, f)
			if !omit {
				*required = append(*required, name)
			}
		}
	}
}

// member describes a member. In a request null means its absence; in a reply a pointer that is always present may be
// null. A fact wins over what the Go type says; among facts, that of a struct over one for all requests.
func (b *schemaBuilder) member(t reflect.Type, f reflect.StructField) Schema {
	name, omit := tagOf(f)
	sc := b.of(f.Type)
	if own, ok := facts[t][name]; ok {
		maps.Copy(sc, own)
	} else if b.form != formReply {
		maps.Copy(sc, inRequests[name])
	}
	if b.form != formReply {
		maps.Copy(sc, onlyInRequests[t][name])
	}
	if b.form == formRequest || b.form == formReply && f.Type.Kind() == reflect.Pointer && !omit && !neverNull[t] {
		return orNull(sc)
	}
	return sc
}

// orNull also allows null. A single type becomes a list of two; an enumeration needs null as a value of its own as
// well.
func orNull(sc Schema) Schema {
	if _, isRef := sc["$ref"]; isRef {
		return Schema{"anyOf": []Schema{sc, {"type": "null"}}}
	}
	if single, ok := sc["type"].(string); ok {
		sc["type"] = []string{single, "null"}
	} else if kinds, ok := sc["type"].([]string); ok {
		sc["type"] = append(slices.Clone(kinds), "null")
	}
	if words, ok := sc["enum"].([]string); ok {
		values := []any{nil}
		for _, w := range words {
			values = append(values, w)
		}
		sc["enum"] = values
	}
	return sc
}

// notNull disallows null for some members of an object.
func notNull(members Schema, names ...string) {
	for _, name := range names {
		sc := members[name].(Schema)
		if ways, ok := sc["anyOf"].([]Schema); ok {
			members[name] = ways[0]
		}
		if kinds, ok := sc["type"].([]string); ok {
			sc["type"] = kinds[0]
		}
		if values, ok := sc["enum"].([]any); ok {
			sc["enum"] = values[1:]
		}
	}
}

// tagOf returns the JSON name of a field, and whether an empty field is left out.
func tagOf(f reflect.StructField) (name string, omit bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, strings.Contains(options, "omit")
}

// memberOf finds the field of a struct by its JSON name.
func memberOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if got, _ := tagOf(f); got == name && !f.Anonymous {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
