package api

import (
	"maps"
	"reflect"
	"slices"

	"github.com/carillon-io/carillon/client"
)

// Components make the schemas of an OpenAPI description from the types of the verbs. A type that is used twice is a
// component, in one form for requests and another for replies. Not safe for concurrent use. The forms are apart
// because a request refuses unknown members and a reply allows them, so one schema could not be right for both. The
// names of the two forms do not collide: those of requests end in Request. params has the members of requests as
// values in a path or a query, without references.
type Components struct{ requests, replies, params *schemaBuilder }

// NewComponents returns components without a schema.
func NewComponents() *Components {
	return &Components{
		requests: newSchemaBuilder(formRequest, componentsRef), replies: newSchemaBuilder(formReply, componentsRef),
		params: newSchemaBuilder(formParameter, componentsRef),
	}
}

// All returns the schemas that the others refer to, by name. The caller may change the map.
func (c *Components) All() Schema {
	all := maps.Clone(c.requests.defs)
	maps.Copy(all, c.replies.defs)
	return all
}

// Request returns the schema of a verb's request. A member that is given outside of the body is optional in it; ""
// means that none is. Such a request has a schema of its own and no reference, because it differs from that of the
// verb.
func (c *Components) Request(v *Verb, outside string) Schema {
	of := reflect.TypeOf(v.request)
	if outside == "" {
		name := c.requests.nameOf(of)
		c.requests.defs[name] = v.requestObject(c.requests)
		return Schema{"$ref": componentsRef + name}
	}
	sc := c.requests.object(of)
	notNull(sc["properties"].(Schema), outside) // if it is there, it must be equal to that outside
	demand(sc, slices.DeleteFunc(slices.Clone(v.required), func(name string) bool { return name == outside }), v.either)
	return sc
}

// Reply returns the schema of a verb's reply.
func (c *Components) Reply(v *Verb) Schema { return c.replies.named(reflect.TypeOf(v.Reply)) }

// Refusal returns the schema of a refusal of any verb.
func (c *Components) Refusal() Schema { return c.replies.named(reflect.TypeFor[client.ErrorReply]()) }

// Parameter returns the schema of a member of a verb's request, as a parameter of a path or a query. The member
// must be one of the verb's request; any other panics, because the routes that name members are fixed in the
// program.
func (c *Components) Parameter(v *Verb, member string) Schema {
	members := c.params.object(reflect.TypeOf(v.request))["properties"].(Schema)
	sc := maps.Clone(members[member].(Schema))
	if kinds, ok := sc["type"].([]string); ok { // a query cannot contain null
		sc["type"] = kinds[0]
	}
	return sc
}
