package api

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
)

// Keys of an endpoint's metadata in `nats micro info`.
const (
	metaRequest  = "request_schema"
	metaResponse = "response_schema"
	metaAbout    = "description"
)

// Schema is a JSON Schema (draft 2020-12), or a part of one. It is a map and not a type with fields, because facts
// add any keyword, and encoding sorts the keys.
type Schema map[string]any

// metadata describes a verb in the info of the NATS service. A schema contains the types that it refers to under
// $defs.
func (v *Verb) metadata() (map[string]string, error) {
	m := map[string]string{metaAbout: v.About}
	for key, sc := range map[string]Schema{metaRequest: v.requestSchema(), metaResponse: v.replySchema()} {
		text, err := json.Marshal(sc, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("api: schema of %s: %w", v.name, err)
		}
		m[key] = string(text)
	}
	return m, nil
}

// requestSchema is as strict as the server: it allows no other members. A caller that validates against it finds a
// misspelled member before it sends the request.
func (v *Verb) requestSchema() Schema {
	b := newSchemaBuilder(formRequest, defsRef)
	return b.whole(v.requestObject(b))
}

// requestObject is the schema of a verb's request, without the types that it refers to.
func (v *Verb) requestObject(b *schemaBuilder) Schema {
	sc := b.object(reflect.TypeOf(v.request))
	demand(sc, v.required, v.either)
	return sc
}

// replySchema is the schema of a successful reply. Like that of a refusal it allows further members, which a later
// version may add.
func (v *Verb) replySchema() Schema {
	b := newSchemaBuilder(formReply, defsRef)
	return b.whole(Schema{"anyOf": []Schema{b.object(reflect.TypeOf(v.Reply)), b.object(reflect.TypeFor[client.ErrorReply]())}})
}

// refusalSchema is the schema of a refusal of any verb.
func refusalSchema() Schema {
	b := newSchemaBuilder(formReply, defsRef)
	return b.whole(b.object(reflect.TypeFor[client.ErrorReply]()))
}

// demand adds which members an object must have: all members of the first list, which are then not null, and one
// member of the second. It changes sc. A member that must be there may not be null either, since null counts as
// absent.
func demand(sc Schema, all, oneOf []string) {
	if len(all) > 0 {
		sc["required"] = all
		notNull(sc["properties"].(Schema), all...)
	}
	var ways []Schema
	for _, name := range oneOf {
		ways = append(ways, Schema{"required": []string{name}})
	}
	if len(ways) > 0 {
		sc["anyOf"] = ways
	}
}
