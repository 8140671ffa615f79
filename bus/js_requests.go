package bus

import (
	"slices"
	"strings"
)

// jsRequest is a kind of request that the NATS server puts into its line for the requests to JetStream of all accounts.
type jsRequest struct {
	pattern string // without apiPrefix
	answer  string // in the type of its answer
	// checked requests name a subject on which JetStream would publish, or from which it would receive.
	checked bool
	// byStreams: JetStream itself sends it for a stream with a mirror or sources, or for a consumer, without a user.
	byStreams bool
	// byGovernors: an admin of all tenants alone may send it.
	byGovernors bool
	// ofSystem: it is to the NATS server itself, and not to JetStream.
	ofSystem bool
}

// apiPrefix begins the requests to JetStream.
const apiPrefix = "$JS.API."

// jsRequests are all of them. What is not here, JetStream does not answer to the account of a tenant, apart from what
// a consumer or a stream answers itself (CONSUMER.MSG.NEXT, CONSUMER.RESET, DIRECT.GET), which does not stand in that line.
var jsRequests = []jsRequest{
	{pattern: "CONSUMER.INFO.*.*", answer: "consumer_info"},
	{pattern: "STREAM.INFO.*", answer: "stream_info"},
	{pattern: "STREAM.MSG.GET.*", answer: "stream_msg_get"},
	{pattern: "CONSUMER.CREATE.*", answer: "consumer_create", checked: true, byStreams: true},
	{pattern: "CONSUMER.CREATE.*.>", answer: "consumer_create", checked: true, byStreams: true},
	{pattern: "CONSUMER.DURABLE.CREATE.*.*", answer: "consumer_create", checked: true, byStreams: true},
	{pattern: "CONSUMER.DELETE.*.*", answer: "consumer_delete", byStreams: true},
	{pattern: "CONSUMER.NAMES.*", answer: "consumer_names"},
	{pattern: "CONSUMER.LIST.*", answer: "consumer_list"},
	{pattern: "CONSUMER.PAUSE.*.*", answer: "consumer_pause"},
	{pattern: "CONSUMER.UNPIN.*.*", answer: "consumer_unpin"},
	{pattern: "CONSUMER.LEADER.STEPDOWN.*.*", answer: "consumer_leader_stepdown"},
	{pattern: "CONSUMER.PEER.REMOVE.*.*", answer: "consumer_remove_peer"},
	{pattern: "CONSUMER.PEER.EVACUATE.*.*", answer: "consumer_evacuate_peer"},
	{pattern: "INFO", answer: "account_info"},
	{pattern: "STREAM.NAMES", answer: "stream_names"},
	{pattern: "STREAM.LIST", answer: "stream_list"},
	{pattern: "STREAM.CREATE.*", answer: "stream_create", checked: true},
	{pattern: "STREAM.UPDATE.*", answer: "stream_update", checked: true},
	{pattern: "STREAM.DELETE.*", answer: "stream_delete"},
	{pattern: "STREAM.PURGE.*", answer: "stream_purge"},
	{pattern: "STREAM.SNAPSHOT.*", answer: "stream_snapshot", checked: true},
	{pattern: "STREAM.RESTORE.*", answer: "stream_restore", checked: true, byGovernors: true},
	{pattern: "STREAM.PEER.REMOVE.*", answer: "stream_remove_peer"},
	{pattern: "STREAM.PEER.EVACUATE.*", answer: "stream_evacuate_peer"},
	{pattern: "STREAM.CANCEL_MOVE.*", answer: "stream_cancel_move"},
	{pattern: "STREAM.LEADER.STEPDOWN.*", answer: "stream_leader_stepdown"},
	{pattern: "STREAM.MSG.DELETE.*", answer: "stream_msg_delete"},
}

// The kinds that are not in jsRequests. The guard answers them itself.
var (
	unknownRequest = &jsRequest{answer: "system"} // JetStream has no such request
	userRequest    = &jsRequest{ofSystem: true}   // who the caller is
	figuresRequest = &jsRequest{ofSystem: true}   // the connections or the figures of an account
)

// requestOf returns the kind of a request. what is its subject without apiPrefix, which ends with a pattern at times: that
// of a consumer's filter. For one to the server itself it is what guardSystem has made of the subject.
func requestOf(what string) *jsRequest {
	tokens := strings.Split(what, ".")
	if tokens[0] == ofSystem {
		if tokens[len(tokens)-1] == askedUser {
			return userRequest
		}
		return figuresRequest
	}
	i := slices.IndexFunc(jsRequests, func(q jsRequest) bool { return q.matches(tokens) })
	if i < 0 {
		return unknownRequest
	}
	return &jsRequests[i]
}

// matches reports whether the pattern has a subject.
func (q *jsRequest) matches(tokens []string) bool {
	i := 0
	for want := range strings.SplitSeq(q.pattern, ".") {
		switch {
		case i >= len(tokens):
			return false
		case want == ">":
			return true
		case want != "*" && want != tokens[i]:
			return false
		}
		i++
	}
	return i == len(tokens)
}

// answerType returns the type of the answers.
func (q *jsRequest) answerType() string { return "io.nats.jetstream.api.v1." + q.answer + "_response" }
