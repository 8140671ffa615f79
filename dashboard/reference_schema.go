package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// apiSchema is a schema of the OpenAPI document, as far as the page shows it.
type apiSchema struct {
	Ref    string `json:"$ref"`
	Type   typeNames
	Enum   []any
	Const  any
	Format string

	Pattern              string
	Items                *apiSchema
	Properties           map[string]*apiSchema
	Required             []string
	AdditionalProperties valueSchema
	AnyOf                []*apiSchema
	ReadOnly             bool
	Description          string

	Minimum, Maximum                              *float64
	MinLength, MaxLength, MaxItems, MaxProperties *int64
}

// typeNames are the names of a schema's types: in JSON one text, or a list of texts.
type typeNames []string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *typeNames) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// valueSchema is the schema of an object's further members; nil if the document has none or says true or false.
type valueSchema struct{ *apiSchema }

// UnmarshalJSON implements [json.Unmarshaler].
func (v *valueSchema) UnmarshalJSON(text []byte) error {
	if string(text) == "true" || string(text) == "false" {
		return nil
	}
	return json.Unmarshal(text, &v.apiSchema)
}

// referenceType is a type with its members.
type referenceType struct {
	Name    string
	Members []referenceMember
	Rule    string
}

// referenceMember is a member of an object, or a parameter.
type referenceMember struct {
	Name     string
	In       string // of a parameter: path, query or header
	Type     typeText
	Required bool
	About    string // bounds and values
	Pattern  string
	Values   []string
}

// typeText is the name of a type, in whose midst may stand a type of the page, as a link. The zero value is any value.
type typeText struct{ Before, Ref string }

// members returns the members of an object that a caller may use, the required ones first.
func (s *apiSchema) members() (members []referenceMember) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		// What a request may have and the server ignores is no member that a caller needs to know.
		if p := s.Properties[name]; !p.ReadOnly || len(p.Type) > 0 {
			members = append(members, memberOf(name, p, slices.Contains(s.Required, name)))
		}
	}
	slices.SortStableFunc(members, func(a, b referenceMember) int {
		return map[bool]int{true: 0, false: 1}[a.Required] - map[bool]int{true: 0, false: 1}[b.Required]
	})
	return members
}

// rule returns what a schema demands of its members together; "" if nothing.
func (s *apiSchema) rule() string {
	var names []string
	for _, one := range s.AnyOf {
		names = append(names, strings.Join(one.Required, " and "))
	}
	if names = slices.DeleteFunc(names, func(n string) bool { return n == "" }); len(names) == 0 {
		return ""
	}
	return "At least one of " + strings.Join(names, ", ") + " is required."
}

// memberOf returns a member by its schema.
func memberOf(name string, s *apiSchema, required bool) referenceMember {
	m := referenceMember{Name: name, Required: required, Type: typeOf(s)}
	if s == nil {
		return m
	}
	inner := s
	if s.Items != nil {
		inner = s.Items
	}
	if m.Pattern = inner.Pattern; s.AdditionalProperties.apiSchema != nil {
		m.Pattern = s.AdditionalProperties.Pattern
	}
	for _, value := range inner.Enum {
		if value != nil && value != "" {
			m.Values = append(m.Values, fmt.Sprint(value))
		}
	}
	if s.Const != nil {
		m.Values = append(m.Values, fmt.Sprint(s.Const))
	}
	m.About = strings.TrimSpace(s.Description + " " + s.bounds())
	return m
}

// typeOf returns the name of a schema's type.
func typeOf(s *apiSchema) typeText {
	switch {
	case s == nil:
		return typeText{}
	case s.Ref != "":
		return typeText{Ref: nameOfRef(s.Ref)}
	case s.Items != nil:
		of := typeOf(s.Items)
		return typeText{Before: "list of " + of.Before, Ref: of.Ref}
	case s.AdditionalProperties.apiSchema != nil && len(s.Properties) == 0:
		of := typeOf(s.AdditionalProperties.apiSchema)
		return typeText{Before: "object, values: " + of.Before, Ref: of.Ref}
	case s.Format == "date-time":
		return typeText{Before: "time"}
	}
	var names []string
	for _, name := range s.Type {
		switch {
		case name == "null" || slices.Contains(names, name):
		case name == "object" && len(s.Properties) > 0:
			names = append(names, "{"+strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")+"}")
		default:
			names = append(names, name)
		}
	}
	return typeText{Before: strings.Join(names, " or ")}
}

// typeMaximum is the largest maximum that is one of the number's type and not of the member.
const typeMaximum = 1<<32 - 1

// bounds returns what limits a value; "" if nothing does.
func (s *apiSchema) bounds() string {
	var all []string
	switch {
	case s.Minimum != nil && s.Maximum != nil && *s.Maximum < typeMaximum:
		all = append(all, number(*s.Minimum)+" to "+number(*s.Maximum))
	case s.Maximum != nil && *s.Maximum < typeMaximum:
		all = append(all, "at most "+number(*s.Maximum))
	case s.Minimum != nil && *s.Minimum > 0:
		all = append(all, "at least "+number(*s.Minimum))
	}
	for _, b := range []struct {
		most *int64
		unit string
	}{{s.MaxLength, "characters"}, {s.MaxItems, "entries"}, {s.MaxProperties, "members"}} {
		if b.most != nil {
			all = append(all, fmt.Sprintf("at most %s %s", figure(*b.most), b.unit))
		}
	}
	if len(all) == 0 {
		return ""
	}
	text := strings.Join(all, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// number returns a bound as people write it.
func number(n float64) string { return figure(strconv.FormatFloat(n, 'f', -1, 64)) }
