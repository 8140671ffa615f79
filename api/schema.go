package api

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// The keys of an endpoint's metadata, as `nats micro info` shows them.
const (
	metaRequest  = "request_schema"
	metaResponse = "response_schema"
	metaAbout    = "description"
)

// schema is a JSON Schema (draft 2020-12).
type schema map[string]any

// metadata describes a verb to whoever asks the NATS service for its info.
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
	b := schemaBuilder{strict: true}
	sc := b.of(reflect.TypeOf(v.request))
	if len(v.required) > 0 {
		sc["required"] = v.required
	}
	var either []schema
	for _, name := range v.either {
		either = append(either, schema{"required": []string{name}})
	}
	if len(either) > 0 {
		sc["anyOf"] = either
	}
	return sc
}

// replySchema allows further members, which a later version may add.
func (v *verb) replySchema() schema { return new(schemaBuilder).of(reflect.TypeOf(v.reply)) }

// leaves are the schemas of the types that are not described by their fields.
var leaves = map[reflect.Type]schema{
	reflect.TypeFor[client.Time]():        {"type": []string{"string", "null"}, "format": "date-time"},
	reflect.TypeFor[client.Duration]():    {"type": "string", "pattern": `^([0-9]+d)?([0-9.]+(ns|us|µs|ms|s|m|h))*$`},
	reflect.TypeFor[stdjson.RawMessage](): {},
	reflect.TypeFor[[]byte]():             {"type": "string", "contentEncoding": "base64"},
	reflect.TypeFor[map[string]string]():  {"type": "object", "additionalProperties": schema{"type": "string"}},
	reflect.TypeFor[map[string]uint64]():  {"type": "object", "additionalProperties": schema{"type": "integer", "minimum": 0}},
	reflect.TypeFor[client.Outcome]():     {"type": "string", "enum": []string{"succeeded", "failed"}},
}

var actionWords = []string{
	"create", "update", "delete", "pause", "resume", "trigger", "backfill", "cancel_run", "retry_run", "put_calendar", "delete_calendar",
}

// details are what types do not tell of members, by the name of the member.
var details = map[string]schema{
	"name":              {"maxLength": job.NameBytesMax},
	"kind":              {"enum": []string{"nats", "request", "jetstream", "http", "handler"}},
	"completion":        {"enum": []string{"delivered", "reported"}},
	"overlap_policy":    {"enum": []string{"allow", "skip", "buffer_one", "buffer_all", "cancel_other"}},
	"missed_run_policy": {"enum": []string{"skip", "fire_once", "backfill"}},
	"schedule":          {"maxLength": job.ScheduleBytesMax, "examples": []string{"0 8 * * 1-5", "@every 10s", "@at 2026-12-01T08:00:00Z"}},
	"schedules":         {"maxItems": job.SchedulesMax},
	"pause_on_failure":  {"maximum": job.PauseOnFailureMax},
	"max_concurrent":    {"maximum": job.MaxConcurrentMax},
	"max_in_flight":     {"maximum": job.MaxInFlightMax},
	"action":            {"enum": actionWords},
	"limit":             {"minimum": 1},
	"count":             {"minimum": 1, "maximum": job.PreviewMax},
	"description":       {"maxLength": job.DescriptionBytesMax},
	"idempotency_key":   {"maxLength": job.IdempotencyKeyMax},
}

// schemaBuilder makes schemas of the types of package client.
type schemaBuilder struct{ strict bool }

func (b *schemaBuilder) of(t reflect.Type) schema {
	if leaf, ok := leaves[t]; ok {
		return maps.Clone(leaf)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.of(t.Elem())
	case reflect.Struct:
		return b.object(t)
	case reflect.Slice:
		return schema{"type": "array", "items": b.of(t.Elem())}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Int, reflect.Uint32, reflect.Uint64:
		return schema{"type": "integer", "minimum": 0}
	}
	panic(fmt.Sprintf("api: no schema for %s", t))
}

func (b *schemaBuilder) object(t reflect.Type) schema {
	members := schema{}
	b.addMembers(t, members)
	sc := schema{"type": "object", "properties": members}
	if b.strict {
		sc["additionalProperties"] = false
	}
	return sc
}

func (b *schemaBuilder) addMembers(t reflect.Type, members schema) {
	if b.strict && t == reflect.TypeFor[client.Job]() {
		for _, name := range replyOnly {
			members[name] = schema{"readOnly": true}
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous:
			b.addMembers(f.Type, members)
		default:
			members[name] = b.member(f.Type, name)
		}
	}
}

// member describes a member: in a request null stands for its absence, in a reply a pointer to a
// struct may be null.
func (b *schemaBuilder) member(t reflect.Type, name string) schema {
	sc := b.of(t)
	maps.Copy(sc, details[name])
	null := b.strict || t.Kind() == reflect.Pointer
	if single, ok := sc["type"].(string); ok && null {
		sc["type"] = []string{single, "null"}
	}
	if words, ok := sc["enum"].([]string); ok && null {
		values := []any{nil}
		for _, w := range words {
			values = append(values, w)
		}
		sc["enum"] = values
	}
	return sc
}
