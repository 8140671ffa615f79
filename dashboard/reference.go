package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-io/carillon/client"
)

// referencePath is the path of the reference of the API. The server shows it to every caller, like the document that it is
// made from.
const referencePath = "/docs"

// reference is the page of the API, made from the OpenAPI document of the server. The document never changes while the
// server runs, so the page is rendered once, for all readers.
type reference struct {
	content func() (template.HTML, error)
}

// newReference returns the reference for a document; nil means that there is none.
func newReference(document func() ([]byte, error)) *reference {
	return &reference{content: sync.OnceValues(func() (template.HTML, error) {
		if document == nil {
			return "", refusal(client.CodeNotFound, http.StatusNotFound, "this server has no description of its API")
		}
		text, err := document()
		if err != nil {
			return "", fmt.Errorf("describe the API: %w", err)
		}
		return renderReference(text)
	})}
}

// reference returns the page of the API.
func (v *visit) reference() view {
	content, err := v.dashboard.reference.content()
	if err != nil {
		return failed(err)
	}
	return view{page: "reference", title: "API", active: referencePath, body: content}
}

// renderReference returns the content of the page for a document.
func renderReference(document []byte) (template.HTML, error) {
	var doc apiDocument
	if err := json.Unmarshal(document, &doc); err != nil {
		return "", fmt.Errorf("read the description of the API: %w", err)
	}
	content, err := doc.content()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := templates()["reference"].ExecuteTemplate(&b, "document", content); err != nil {
		return "", fmt.Errorf("render the description of the API: %w", err)
	}
	return template.HTML(b.String()), nil // the template has escaped what the document says
}

// apiDocument is the part of an OpenAPI document that the page shows.
type apiDocument struct {
	Info struct {
		Title, Version, Description string
	}
	Tags  []struct{ Name string }
	Paths map[string]map[string]*apiOperation

	Components struct {
		Schemas    map[string]*apiSchema
		Parameters map[string]*apiParameter
		Responses  map[string]*apiResponse
		Security   map[string]struct{ Description string } `json:"securitySchemes"`
	}
}

type apiOperation struct {
	ID          string `json:"operationId"`
	Summary     string
	Tags        []string
	Parameters  []*apiParameter
	RequestBody *struct {
		Required bool
		Content  map[string]apiContent
	}
	Responses map[string]*apiResponse
}

type apiParameter struct {
	Ref         string `json:"$ref"`
	In, Name    string
	Description string
	Required    bool
	Schema      *apiSchema
}

type apiResponse struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]apiContent
}

type apiContent struct {
	Schema  *apiSchema
	Example json.RawMessage
}

// jsonType is the only type of content that bodies have.
const jsonType = "application/json"

// referenceContent is what the template of the reference shows.
type referenceContent struct {
	Title, Version, About string
	// Ways are the ways in which a caller shows who it is.
	Ways   []string
	Groups []referenceGroup
	Types  []referenceType
}

// referenceGroup is the operations of one noun.
type referenceGroup struct {
	Name       string
	Operations []referenceOperation
}

// referenceOperation is a method of a path.
type referenceOperation struct {
	ID, Method, Path, Summary string
	Parameters                []referenceMember
	// Body is nil if the request has none.
	Body    *referenceBody
	Replies []referenceReply
	// Refusals are the statuses of errors, which all have the same type.
	Refusals []referenceReply
}

// referenceBody is the body of a request.
type referenceBody struct {
	Required bool
	Type     typeText
	Members  []referenceMember // of a body that is no type of its own
	Rule     string
	Example  string
}

// referenceReply is a status, and the body of its reply.
type referenceReply struct {
	Status, About string
	Type          typeText
}

// content returns what the page shows: the operations by their noun, in the order of the document's tags, then the
// types. A HEAD is left out: it is as its GET.
func (d *apiDocument) content() (*referenceContent, error) {
	c := &referenceContent{Title: d.Info.Title, Version: d.Info.Version, About: d.Info.Description}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Security)) {
		c.Ways = append(c.Ways, d.Components.Security[name].Description)
	}
	groups := make(map[string][]referenceOperation)
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"get", "post", "put", "delete"} {
			op := d.Paths[path][method]
			if op == nil {
				continue
			}
			shown, err := d.operation(method, path, op)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			tag := "more"
			if len(op.Tags) > 0 {
				tag = op.Tags[0]
			}
			groups[tag] = append(groups[tag], shown)
		}
	}
	for _, tag := range append(d.Tags, struct{ Name string }{"more"}) {
		if len(groups[tag.Name]) > 0 {
			c.Groups = append(c.Groups, referenceGroup{tag.Name, groups[tag.Name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		s := d.Components.Schemas[name]
		c.Types = append(c.Types, referenceType{Name: name, Members: s.members(), Rule: s.rule()})
	}
	return c, nil
}

// operation returns what the page shows of an operation.
func (d *apiDocument) operation(method, path string, op *apiOperation) (shown referenceOperation, err error) {
	shown = referenceOperation{ID: op.ID, Method: strings.ToUpper(method), Path: path, Summary: op.Summary}
	for _, p := range op.Parameters {
		if p, err = resolve(p, p.Ref, d.Components.Parameters); err != nil {
			return shown, err
		}
		m := memberOf(p.Name, p.Schema, p.Required)
		m.In = p.In
		m.About = strings.TrimSpace(p.Description + " " + m.About)
		shown.Parameters = append(shown.Parameters, m)
	}
	if op.RequestBody != nil {
		content := op.RequestBody.Content[jsonType]
		shown.Body = &referenceBody{Required: op.RequestBody.Required, Type: typeOf(content.Schema), Example: indented(content.Example)}
		if content.Schema != nil && content.Schema.Ref == "" {
			shown.Body.Members, shown.Body.Rule = content.Schema.members(), content.Schema.rule()
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r, err := resolve(op.Responses[status], op.Responses[status].Ref, d.Components.Responses)
		if err != nil {
			return shown, err
		}
		reply := referenceReply{Status: status, About: r.Description, Type: typeOf(r.Content[jsonType].Schema)}
		if strings.HasPrefix(status, "2") || strings.HasPrefix(status, "3") {
			shown.Replies = append(shown.Replies, reply)
		} else {
			shown.Refusals = append(shown.Refusals, reply)
		}
	}
	return shown, nil
}

// resolve returns a component if ref names one, and the value itself if it is "".
func resolve[T any](value *T, ref string, components map[string]*T) (*T, error) {
	if ref == "" {
		return value, nil
	}
	to := components[nameOfRef(ref)]
	if to == nil {
		return nil, fmt.Errorf("the reference %q leads nowhere", ref)
	}
	return to, nil
}

// nameOfRef returns the name of the component that a reference names.
func nameOfRef(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// indented returns an example as people read it; "" for none.
func indented(example json.RawMessage) string {
	var b bytes.Buffer
	if len(example) == 0 || json.Indent(&b, example, "", "  ") != nil {
		return ""
	}
	return b.String()
}
