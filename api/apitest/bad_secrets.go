package apitest

import "github.com/carillon-io/carillon/client"

// badSecrets lists references to secrets that a definition must not have. The server of the tests has no secrets, so a
// good reference is refused too.
func badSecrets() []BadRequest {
	const code = client.CodeInvalidField
	target := func(name, members, field string) BadRequest {
		return badPut(name, JobWith("target", `{"kind":"http","url":"https://example.com",`+members+`}`), code, "target."+field)
	}
	header := func(name, value string) BadRequest {
		return badPut(name, `{"name":"a","schedule":"@daily","target":{"kind":"http","url":"https://example.com"},"headers":{"X-A":`+value+`}}`, code, "headers.X-A")
	}
	return []BadRequest{
		target("a literal key", `"sign":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`, "sign"),
		target("a literal certificate", `"client_cert":"-----BEGIN"`, "client_cert"),
		target("an empty reference", `"sign":{}`, "sign"),
		target("a reference without tenant", `"sign":{"secret":"key"}`, "sign"),
		target("a reference that climbs", `"sign":{"secret":"default/../crm"}`, "sign"),
		target("a reference to a file of links", `"client_cert":{"secret":"default/..data"}`, "client_cert"),
		target("a reference of another tenant", `"sign":{"secret":"crm/key"}`, "sign"),
		target("a reference without secrets", `"sign":{"secret":"default/key"}`, "sign"),
		badPut("a URL of another tenant", JobWith("target", `{"kind":"http","url":{"secret":"crm/url"}}`), code, "target.url"),
		badPut("a URL that is a list", JobWith("target", `{"kind":"http","url":["x"]}`), code, "target.url"),
		badPut("a signature of a message", JobWith("target", `{"kind":"nats","subject":"a","sign":{"secret":"default/key"}}`), code, "target.sign"),
		badPut("a typo in a reference", JobWith("target", `{"kind":"http","url":{"secrets":"default/url"}}`), client.CodeUnknownField, "target.url.secrets"),
		header("a header with a list", `["x"]`),
		header("a header with an empty reference", `{"secret":""}`),
		header("a header with half a reference", `{"secret":"default"}`),
		header("a header of another tenant", `{"secret":"crm/a"}`),
	}
}
