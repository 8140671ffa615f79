package api

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
)

// The keys of an endpoint's metadata, as `nats micro info` shows them.
const (
	metaRequest  = "request_schema"
	metaResponse = "response_schema"
	metaAbout    = "description"
)

// schema is a JSON Schema (draft 2020-12), or a part of one.
type schema map[string]any

// metadata describes a verb to a caller who asks the NATS service for its info. A schema has the types that it
// refers to under $defs.
func (v *verb) metadata() (map[string]string, error) {
	m := map[string]string{metaAbout: v.about}
	for key, sc := range map[string]schema{metaRequest: v.requestSchema(), metaResponse: v.replySchema()} {
		text, err := json.Marshal(sc, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("api: schema of %s: %w", v.name, err)
		}
		m[key] = string(text)
	}
	return m, nil
}

// requestSchema is strict where the server is: it allows no other members.
func (v *verb) requestSchema() schema {
	b := newSchemaBuilder(formRequest, defsRef)
	return b.whole(v.requestObject(b))
}

// requestObject is the schema of a verb's request, without the types that it refers to.
func (v *verb) requestObject(b *schemaBuilder) schema {
	sc := b.object(reflect.TypeOf(v.request))
	demand(sc, v.required, v.either)
	return sc
}

// replySchema is the schema of what the verb answers when it does not refuse. It allows further members, which a
// later version may add, and so does that of a refusal.
func (v *verb) replySchema() schema {
	b := newSchemaBuilder(formReply, defsRef)
	return b.whole(schema{"anyOf": []schema{b.object(reflect.TypeOf(v.reply)), b.object(reflect.TypeFor[client.ErrorReply]())}})
}

// refusalSchema is the schema of a reply that refuses, whatever the verb.
func refusalSchema() schema {
	b := newSchemaBuilder(formReply, defsRef)
	return b.whole(b.object(reflect.TypeFor[client.ErrorReply]()))
}

// demand says which members an object must have: all of some, which are not null then, and one of others.
func demand(sc schema, all, oneOf []string) {
	if len(all) > 0 {
		sc["required"] = all
		notNull(sc["properties"].(schema), all...)
	}
	var ways []schema
	for _, name := range oneOf {
		ways = append(ways, schema{"required": []string{name}})
	}
	if len(ways) > 0 {
		sc["anyOf"] = ways
	}
}
