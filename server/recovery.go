package server

// Recovery is the progress of a start.
type Recovery struct {
	Stage RecoveryStage
	Done  uint64 // number of commits or jobs so far
	All   uint64 // number of all of them; 0: unknown
}

// RecoveryStage names a phase of a start.
type RecoveryStage string

// The stages of a start, in order.
const (
	ReplayingLog RecoveryStage = "replaying" // the commits since the last checkpoint are applied to the store
	LoadingJobs  RecoveryStage = "loading"   // the timers are armed
)

// replaying returns the function that reports the replay of the log; nil without OnRecovery.
func (o *Options) replaying() func(done, all uint64) {
	if o.OnRecovery == nil {
		return nil
	}
	return func(done, all uint64) { o.OnRecovery(Recovery{ReplayingLog, done, all}) }
}

// loading returns the function that reports the loading of jobs; nil without OnRecovery.
func (o *Options) loading() func(jobs uint64) {
	if o.OnRecovery == nil {
		return nil
	}
	return func(jobs uint64) { o.OnRecovery(Recovery{Stage: LoadingJobs, Done: jobs}) }
}
