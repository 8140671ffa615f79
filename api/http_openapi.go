package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
)

// openAPIVersion is the version of the API in its description. It is that of the paths, not of the program.
const openAPIVersion = "1"

// openAPIDocument returns the description of the HTTP API as OpenAPI 3.1, made of the routes and of the
// types of their verbs. It is the same for each caller, and must not be changed.
var openAPIDocument = sync.OnceValues(func() ([]byte, error) {
	return json.Marshal(newOpenAPI(), json.Deterministic(true))
})

func newOpenAPI() schema {
	replies, paths := schema{"ErrorReply": new(schemaBuilder).of(reflect.TypeFor[client.ErrorReply]())}, schema{}
	for i := range routes {
		r := &routes[i]
		if v := verbsByName[r.verb]; v != nil {
			replies[reflect.TypeOf(v.reply).Name()] = v.replySchema()
		}
		item, known := paths[httpRoot+r.path].(schema)
		if !known {
			item = schema{}
			paths[httpRoot+r.path] = item
		}
		item[strings.ToLower(r.method)] = r.describe()
	}
	return schema{
		"openapi": "3.1.0",
		"info": schema{
			"title": "Carillon", "version": openAPIVersion,
			"description": "Durable job scheduler: the verbs of the NATS service over HTTP. A name in a path may have slashes; " +
				"one whose last part is an action, such as a/runs, is written with %2F.",
		},
		"paths": paths,
		"components": schema{
			"schemas":    replies,
			"parameters": commonParameters,
			"responses": schema{"Refusal": schema{
				"description": "What is wrong, and what would be right. The status is that of the code.",
				"content":     jsonContent(ref("schemas/ErrorReply")),
			}},
		},
	}
}

func ref(to string) schema { return schema{"$ref": "#/components/" + to} }

func jsonContent(of schema) schema { return schema{"application/json": schema{"schema": of}} }

// commonParameters are what stands outside of a request and is no member of it.
var commonParameters = schema{
	"Tenant":         parameter("query", "tenant", "Whose jobs; default "+tenantDefault+".", schema{"type": "string"}),
	"TenantHeader":   parameter("header", tenantHeader, "In place of the parameter tenant.", schema{"type": "string"}),
	"By":             parameter("header", byHeader, "Who asks, for the audit log.", schema{"type": "string"}),
	"IfMatch":        parameter("header", "If-Match", "The version that the job must have, as its ETag.", schema{"type": "string", "pattern": `^"[1-9][0-9]*"$`}),
	"IfNoneMatch":    parameter("header", "If-None-Match", "* if there must be no such job.", schema{"type": "string", "const": "*"}),
	"IfNoneMatchTag": parameter("header", "If-None-Match", "Versions that the caller has: of those, the answer is 304.", schema{"type": "string"}),
	"IdempotencyKey": parameter("header", "Idempotency-Key", "The same key, within a day, is the same run.", schema{"type": "string"}),
}

// parameter describes a parameter; about may be "".
func parameter(in, name, about string, of schema) schema {
	p := schema{"in": in, "name": name, "schema": of}
	if about != "" {
		p["description"] = about
	}
	return p
}

// describe makes the description of a route.
func (r *route) describe() schema {
	op := schema{"operationId": r.operation()}
	v := verbsByName[r.verb]
	if v == nil {
		op["summary"] = "Describe this API."
		op["responses"] = schema{"200": schema{"description": "OpenAPI 3.1", "content": jsonContent(schema{"type": "object"})}}
		return op
	}
	op["summary"] = v.about
	op["tags"] = []string{strings.SplitN(r.verb, ".", 2)[0]}
	op["responses"] = r.responses(v)
	if r.verb == "status" {
		return op
	}
	op["parameters"] = r.parameters(v)
	if r.hasBody() {
		content := jsonContent(r.bodySchema(v))
		content["application/json"].(schema)["example"] = rawExample(r.example)
		c := webCall{route: r, verb: v}
		op["requestBody"] = schema{"required": !c.needsNoBody(), "content": content}
	}
	return op
}

// rawExample is an example as JSON.
func rawExample(text string) (value any) {
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic("api: the example " + text + " is no JSON")
	}
	return value
}

func (r *route) responses(v *verb) schema {
	content := jsonContent(ref("schemas/" + reflect.TypeOf(v.reply).Name()))
	all := schema{"200": schema{"description": "Done.", "content": content}, "default": ref("responses/Refusal")}
	switch r.verb {
	case "jobs.put", "calendars.put":
		location := schema{"Location": schema{"description": "The path of what was created.", "schema": schema{"type": "string"}}}
		all["201"] = schema{"description": "Created.", "content": content, "headers": location}
	case "jobs.get", "calendars.get":
		all["304"] = schema{"description": "The caller has this version."}
	}
	return all
}

// parameters lists what stands in the path, the query and the headers.
func (r *route) parameters(v *verb) []schema {
	list := []schema{ref("parameters/Tenant"), ref("parameters/TenantHeader"), ref("parameters/By")}
	members := new(schemaBuilder).of(reflect.TypeOf(v.request))["properties"].(schema)
	if member := r.member(); member != "" {
		p := parameter("path", member, "", members[member].(schema))
		p["required"] = true
		list = append(list, p)
	}
	for _, name := range r.query {
		if name == "label" {
			list = append(list, parameter("query", name, "key=value, of which all must match; may be repeated.",
				schema{"type": "array", "items": schema{"type": "string", "pattern": "="}}))
			continue
		}
		list = append(list, parameter("query", name, "", members[name].(schema)))
	}
	for _, header := range []struct {
		taken bool
		name  string
	}{
		{r.hasVersion, "IfMatch"}, {r.mayCreate, "IfNoneMatch"}, {r.hasKey, "IdempotencyKey"},
		{r.method == http.MethodGet && (r.verb == "jobs.get" || r.verb == "calendars.get"), "IfNoneMatchTag"},
	} {
		if header.taken {
			list = append(list, ref("parameters/"+header.name))
		}
	}
	return list
}

// bodySchema is the schema of a verb's request. What the path says need not be in the body.
func (r *route) bodySchema(v *verb) schema {
	sc := maps.Clone(v.requestSchema())
	required := slices.DeleteFunc(slices.Clone(v.required), func(name string) bool { return name == r.member() })
	delete(sc, "required")
	if len(required) > 0 {
		sc["required"] = required
	}
	return sc
}
