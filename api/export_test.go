package api

// What tests of package api_test have of this one: they start whole servers, which this package cannot import.
var (
	Conforms      = conforms
	RefusalSchema = refusalSchema
)
