package web

import (
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/job"
)

// schema is a part of the description.
type schema = api.Schema

// openAPIVersion is the version of the API in its description. It is that of the paths, not of the program.
const openAPIVersion = "1"

// openAPIDocument returns the description of the HTTP API as OpenAPI 3.1, generated from the routes and the types of
// their verbs. All callers get the same slice and must not change it. It is made at the first request for it, because
// it costs reflection over all types and most processes are never asked.
var openAPIDocument = sync.OnceValues(func() ([]byte, error) {
	return json.Marshal(newOpenAPI(), json.Deterministic(true))
})

// OpenAPI returns the description of the API that /api/v1/openapi.json has. All callers get the same slice and must not
// change it. Safe for concurrent use.
func OpenAPI() ([]byte, error) { return openAPIDocument() }

// apiWriter generates the description. It is used once; the components collect the schemas that the paths refer to.
type apiWriter struct{ components *api.Components }

// newOpenAPI returns the whole description. HEAD is described for each GET, because the server answers it; tools
// refuse a description with two operations of the same id, so its id has a prefix.
func newOpenAPI() schema {
	w := apiWriter{api.NewComponents()}
	paths := schema{}
	for i := range routes {
		r := &routes[i]
		item, known := paths[apiRoot+r.path].(schema)
		// A path has an entry for each of its methods.
		if !known {
			item = schema{}
			paths[apiRoot+r.path] = item
		}
		item[strings.ToLower(r.method)] = w.describe(r)
		if r.method == http.MethodGet {
			item["head"] = headOf(w.describe(r))
		}
	}
	responses := w.refusals()
	return schema{
		"openapi": "3.1.0",
		"info": schema{
			"title": "Carillon", "version": openAPIVersion,
			"description": "Durable job scheduler: the verbs of the NATS service over HTTP. A name in a path may have slashes; " +
				"one whose last part is an action, such as a/runs, is written with %2F.",
		},
		"tags":       apiTags(),
		"paths":      paths,
		"components": schema{"schemas": w.components.All(), "parameters": commonParameters, "responses": responses, "securitySchemes": securitySchemes},
		// Any of them; none on a server without rights.
		"security": []schema{{}, {"bearer": []string{}}, {"certificate": []string{}}, {"session": []string{}}},
	}
}

// securitySchemes are the ways in which a caller shows who it is.
var securitySchemes = schema{
	"bearer":      schema{"type": "http", "scheme": "bearer", "description": "A token of the file of rights, or a JWT of its issuer."},
	"certificate": schema{"type": "mutualTLS", "description": "A client certificate whose subject alternative names have a principal's name."},
	"session":     schema{"type": "apiKey", "in": "cookie", "name": sessionCookie, "description": "The session of a person who has signed in on the pages; a change needs the header Origin or Sec-Fetch-Site."},
}

// apiTags are the nouns of the verbs. They are in the order of the documentation, so that a viewer shows the
// sections in it.
func apiTags() (tags []schema) {
	for _, noun := range []string{"jobs", "runs", "calendars", "audit", "schedules", "status", "whoami"} {
		tags = append(tags, schema{"name": noun})
	}
	return tags
}

// ref returns a reference to a component of the description. ref never checks that the component exists; a test
// follows all references.
func ref(to string) schema { return schema{"$ref": "#/components/" + to} }

// jsonContent returns the content of a body, which is JSON in all requests and replies of the API.
func jsonContent(of schema) schema { return schema{"application/json": schema{"schema": of}} }

// tenantSchema has the grammar that job.ValidateTenant checks.
var tenantSchema = schema{"type": "string", "minLength": 1, "maxLength": job.TenantBytesMax, "pattern": "^[A-Za-z0-9_-]+$"}

// commonParameters are the parameters that are not members of a request. They are components, because nearly every
// route has the first three.
var commonParameters = schema{
	"Tenant":         parameter("query", "tenant", "Whose jobs; default "+tenantDefault+".", tenantSchema),
	"TenantHeader":   parameter("header", tenantHeader, "In place of the parameter tenant.", tenantSchema),
	"By":             parameter("header", api.ByHeader, "Who asks, for the audit log.", schema{"type": "string", "maxLength": job.ActorBytesMax}),
	"IfMatch":        parameter("header", "If-Match", "The version that the job must have, as its ETag.", schema{"type": "string", "pattern": `^"[1-9][0-9]*"$`}),
	"IfNoneMatch":    parameter("header", "If-None-Match", "* if there must be no such job.", schema{"type": "string", "const": "*"}),
	"IfNoneMatchTag": parameter("header", "If-None-Match", "Versions that the caller has: of those, the answer is 304.", schema{"type": "string"}),
	"Standby":        parameter("header", api.StandbyHeader, "A standby may answer from its own data, and says by how much that lags.", schema{"type": "string", "const": "true"}),
	"IdempotencyKey": parameter("header", "Idempotency-Key", "The same key, within a day, is the same run.", schema{"type": "string", "maxLength": job.IdempotencyKeyMax}),
}

// parameter describes a parameter; about may be "".
func parameter(in, name, about string, of schema) schema {
	p := schema{"in": in, "name": name, "schema": of}
	if about != "" {
		p["description"] = about
	}
	return p
}

// describe returns the description of a route. The example is parsed, so a broken one cannot be published.
func (w *apiWriter) describe(r *route) schema {
	op := schema{"operationId": r.operation()}
	v := api.VerbNamed(r.verb)
	op["responses"] = w.responses(r, v)
	if v == nil {
		op["summary"] = "Describe this API."
		return op
	}
	op["summary"] = v.About
	op["tags"] = []string{strings.SplitN(r.verb, ".", 2)[0]}
	op["parameters"] = w.parameters(r, v)
	if r.hasBody() {
		content := jsonContent(w.components.Request(v, r.member()))
		content["application/json"].(schema)["example"] = rawExample(r.example)
		c := call{route: r, verb: v}
		op["requestBody"] = schema{"required": !c.needsNoBody(), "content": content}
	}
	return op
}

// headOf returns the description of a HEAD, given that of its GET: its replies have no body.
func headOf(op schema) schema {
	op["operationId"] = "head_" + op["operationId"].(string)
	responses := schema{"default": schema{"description": "As of a GET, without the body."}}
	for status := range op["responses"].(schema) {
		responses[status] = schema{"description": "As of a GET, without the body."}
	}
	op["responses"] = responses
	return op
}

// rawExample is an example as JSON. It panics on an example that is no JSON, which a test finds, because it generates
// the description.
func rawExample(text string) (value any) {
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic("web: the example " + text + " is no JSON")
	}
	return value
}

// parameters lists the parameters in the path, the query and the headers.
func (w *apiWriter) parameters(r *route, v *api.Verb) []schema {
	list := []schema{ref("parameters/Tenant"), ref("parameters/TenantHeader"), ref("parameters/By")}
	if member := r.member(); member != "" {
		p := parameter("path", member, "", w.components.Parameter(v, member))
		p["required"] = true
		list = append(list, p)
	}
	for _, name := range r.query {
		// It is a parameter of HTTP alone: the member has one object for all labels.
		if name == "label" {
			list = append(list, parameter("query", name, "key=value, of which all must match; may be repeated, with other keys.", schema{
				"type": "array", "maxItems": job.LabelsMax, "uniqueItems": true, "items": schema{"type": "string", "pattern": "^[^=]+="},
			}))
			continue
		}
		list = append(list, parameter("query", name, "", w.components.Parameter(v, name)))
	}
	for _, header := range []struct {
		taken bool
		name  string
	}{
		{r.hasVersion, "IfMatch"}, {r.mayCreate, "IfNoneMatch"}, {r.hasKey, "IdempotencyKey"},
		{r.hasTag(), "IfNoneMatchTag"}, {r.method == http.MethodGet && !r.isLocal(), "Standby"},
	} {
		if header.taken {
			list = append(list, ref("parameters/"+header.name))
		}
	}
	return list
}

// hasTag reports whether the reply has a version, which a caller can demand in a later request. Lists have no tag:
// they show things with versions of their own.
func (r *route) hasTag() bool {
	return r.method == http.MethodGet && (r.verb == "jobs.get" || r.verb == "calendars.get")
}
