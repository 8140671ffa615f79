package carillon

// Recovery is how far a start is with what the data directory holds.
type Recovery struct {
	Stage RecoveryStage
	Done  uint64 // commits or jobs
	All   uint64 // the same; 0: it is not known
}

// RecoveryStage is what a start is at.
type RecoveryStage string

// The stages of a recovery, in their order.
const (
	ReplayingLog RecoveryStage = "replaying" // the commits since the last checkpoint are applied to the store
	LoadingJobs  RecoveryStage = "loading"   // the timers are armed
)

// replaying tells of the replay of the log; nil if nobody wants to know.
func (o *Options) replaying() func(done, all uint64) {
	if o.OnRecovery == nil {
		return nil
	}
	return func(done, all uint64) { o.OnRecovery(Recovery{ReplayingLog, done, all}) }
}

// loading tells of the loading of jobs; nil if nobody wants to know.
func (o *Options) loading() func(jobs uint64) {
	if o.OnRecovery == nil {
		return nil
	}
	return func(jobs uint64) { o.OnRecovery(Recovery{Stage: LoadingJobs, Done: jobs}) }
}
