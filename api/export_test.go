package api

// RefusalSchema is for tests of package api_test: they start whole servers, which this package cannot import.
var RefusalSchema = refusalSchema
