package api

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/inbox"
)

// The service is a NATS service (ADR-32), so that `nats micro ls`, `info` and `stats` find it. It answers their
// requests with handlers of its own: those of the library reply to any subject, and measure only the time until a
// request is handed on.

// everyInstance stands in place of the id of an instance in questions by the name of the service that come from the account
// of a tenant.
const everyInstance = "all"

// serviceDescription is the description in `nats micro info`. Tools show it as one line.
const serviceDescription = "Durable job scheduler"

// addDiscovery subscribes to the discovery requests of NATS services: those to all services, to those of this name,
// and to this instance. The requests have no queue group, because each instance answers for itself. After an error
// some subscriptions exist; they are in questions, and open drains them. The service of one shard of several answers none:
// callers use the service of the router.
func (s *Service) addDiscovery() error {
	if s.opts.Shards > 1 {
		return nil
	}
	info, err := s.info()
	if err != nil {
		return err
	}
	described, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("api: describe the service: %w", err)
	}
	for verb, answer := range map[micro.Verb]func() ([]byte, error){
		micro.PingVerb: func() ([]byte, error) {
			return json.Marshal(micro.Ping{ServiceIdentity: s.identity(), Type: micro.PingResponseType})
		},
		micro.InfoVerb:  func() ([]byte, error) { return described, nil },
		micro.StatsVerb: func() ([]byte, error) { return json.Marshal(s.microStats()) },
	} {
		for _, whom := range [][2]string{{}, {s.opts.serviceName()}, {s.opts.serviceName(), s.id}, {s.opts.serviceName(), everyInstance}} {
			subject, err := micro.ControlSubject(verb, whom[0], whom[1])
			if err != nil {
				return fmt.Errorf("api: %w", err)
			}
			// The desk drops a question whose reply would go to a subject that is no inbox, as it does with
			// requests.
			sub, err := s.desk.Subscribe(subject, func(r *inbox.Request) { s.present(r, verb.String(), answer) })
			if err != nil {
				return fmt.Errorf("api: subscribe to %s: %w", subject, err)
			}
			s.questions = append(s.questions, sub)
			if err := sub.SetPendingLimits(discoveryWaiting, discoveryWaitingBytes); err != nil {
				return fmt.Errorf("api: bound the questions on %s: %w", subject, err)
			}
		}
	}
	return nil
}

// present answers a discovery request, unless its account has asked too often. A failure is logged and nothing else: the
// caller asks again, and no job depends on the answer.
func (s *Service) present(r *inbox.Request, verb string, answer func() ([]byte, error)) {
	account := accountAsking(r)
	if !s.discovery.mayAsk(account, time.Now()) {
		s.leave(r, account)
		return
	}
	body, err := answer()
	if err == nil {
		err = r.Answer(verb, nil, body)
	}
	if err != nil {
		s.opts.Logger.Warn("a question about the service was not answered", "subject", r.Subject, "error", err)
	}
}

// identity is the same in all answers of this instance, so that tools can match them.
func (s *Service) identity() micro.ServiceIdentity {
	return micro.ServiceIdentity{
		Name: s.opts.serviceName(), ID: s.id, Version: semanticVersion(s.opts.Version),
		Metadata: map[string]string{"version": s.opts.Version, "prefix": s.opts.Prefix},
	}
}

// info describes the verbs with their schemas. It is made once at the start, because it costs reflection over all
// types and does not change.
func (s *Service) info() (micro.Info, error) {
	info := micro.Info{ServiceIdentity: s.identity(), Type: micro.InfoResponseType, Description: serviceDescription}
	for i := range verbs {
		v := &verbs[i]
		metadata, err := v.metadata()
		if err != nil {
			return info, err
		}
		info.Endpoints = append(info.Endpoints, micro.EndpointInfo{
			Name: endpointName(v.name), Subject: s.subjectOf(v), QueueGroup: queueGroup, Metadata: metadata,
		})
	}
	return info, nil
}

// microStats returns the counters of the verbs: of requests over NATS, and in data those of all ways. Requests that
// came over HTTP count only in data, because the standard counters of a NATS service describe its subjects, and
// their average would otherwise mix two transports.
func (s *Service) microStats() micro.Stats {
	stats := micro.Stats{ServiceIdentity: s.identity(), Type: micro.StatsResponseType, Started: s.startedAt}
	for i := range verbs {
		v := &verbs[i]
		st := s.executor.stats[v.name]
		e := &micro.EndpointStats{Name: endpointName(v.name), Subject: s.subjectOf(v), QueueGroup: queueGroup}
		took := st.took[overNATS].Read()
		e.NumRequests, e.ProcessingTime = int(took.Count), histogram.Duration(took.Sum)
		if took.Count > 0 {
			e.AverageProcessingTime = e.ProcessingTime / time.Duration(took.Count)
		}
		e.NumErrors, e.LastError = st.errorsOverNATS()
		e.Data, _ = json.Marshal(st.snapshot()) // cannot fail: it holds only numbers and texts
		stats.Endpoints = append(stats.Endpoints, e)
	}
	return stats
}
