package scheduler

import "github.com/carillon-io/carillon/job"

// unmask replaces the masks that a proposal came with by the stored credentials. The step accepts the proposal only
// at the job's version at which they were read, so that a mask never restores a credential that another put has
// replaced.
func (p *Put) unmask(stored *job.Definition) error {
	if p.Masked == nil {
		return nil
	}
	d, err := job.DecodeAuditDefinition(p.Masked)
	if err != nil {
		return err
	}
	if d, err = d.Unmask(stored); err != nil {
		return err
	}
	p.Definition = job.EncodeDefinition(&d)
	return nil
}
