package job

import "time"

// Bounds of a definition. A value beyond one is refused with an error that names the bound. These bounds keep a
// definition, apart from its payload, within some tens of kilobytes. The names are parts of NATS subjects, of keys
// and of log lines.
const (
	NameBytesMax        = 128
	TenantBytesMax      = 64
	DescriptionBytesMax = 1024
	PayloadBytesDefault = 256 << 10
	PayloadBytesCeiling = 512 << 10 // a payload must fit into one commit of the log, with room to spare
	HeadersMax          = 64
	HeadersBytesMax     = 16 << 10
	LabelsMax           = 32
	LabelKeyBytesMax    = 63
	LabelValueBytesMax  = 255
	SubjectBytesMax     = 255
	URLBytesMax         = 2048
	HandlerBytesMax     = 128

	AttemptTimeoutMin  = 10 * time.Millisecond
	AttemptTimeoutMax  = 24 * time.Hour
	RetryAttemptsMax   = 100
	RetryJitterDefault = 0.1
	RetryAfterMax      = 24 * time.Hour // a longer wish of a target is cut to this
	ExtendMax          = 24 * time.Hour // the longest wait for a report, from now
	JitterMax          = 24 * time.Hour
	PauseOnFailureMax  = 1000
	MaxConcurrentMax   = 10_000
	MaxInFlightMax     = 10_000
	BufferedRunsMax    = 1000 // runs of a job that wait for their turn; further ones are skipped
	CalendarLinesMax   = 1000 // lines of one calendar
	ActorBytesMax      = 128
	RetryIntervalMin   = time.Millisecond
	RetryIntervalMax   = 24 * time.Hour
	RetryAgeMax        = 90 * 24 * time.Hour
	MultiplierMax      = 100
	CatchupWindowMax   = 366 * 24 * time.Hour
	CatchupRunsMax     = 1000
	IdempotencyKeyMax  = 128
	ReasonBytesMax     = 512
	ErrorBytesMax      = 512
	ResultBytesMax     = 512
	AttemptsKeptMax    = 10
)
