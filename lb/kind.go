package lb

import (
	"errors"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// Kind classifies the failure of a command. Up to CacheMissing the order is that of
// Ribbon's ClientException types, so the value is their code.
type Kind uint8

// The kinds of failure. Configuration, ClientThrottled and CacheMissing are never
// produced here; they keep the codes of the others in place.
const (
	General Kind = iota // a broken connection, a protocol error, anything else
	Configuration
	NumberOfRetriesExceeded           // all tries on one server failed and no other was allowed
	NumberOfRetriesNextServerExceeded // all servers that were allowed failed
	SocketTimeout                     // the request's deadline passed
	ReadTimeout                       // the server was silent for too long
	UnknownHost                       // the server's name does not resolve
	Connect                           // no connection, or no TLS session, before any byte was sent
	ClientThrottled
	ServerThrottled // a status that RetryPolicy takes for that
	NoRouteToHost   // the server or its network is unreachable
	CacheMissing
	NoServer  // the balancer had no server to offer
	Cancelled // the caller went away
	Aborted   // a ExecutionListener ended the call
)

// Cause is a word for the kind, for labels and logs, that tells more apart than String
// does.
func (k Kind) Cause() string {
	switch k {
	case SocketTimeout:
		return "deadline"
	case ReadTimeout:
		return "timeout"
	case UnknownHost:
		return "dns"
	case Connect:
		return "connect"
	case ServerThrottled, ClientThrottled:
		return "throttled"
	case NoRouteToHost:
		return "unreachable"
	case NoServer:
		return "no_server"
	case Cancelled:
		return "cancelled"
	case Aborted:
		return "aborted"
	case General, Configuration, NumberOfRetriesExceeded, NumberOfRetriesNextServerExceeded, CacheMissing:
	}
	return "broken"
}

// CauseOf is the Cause of an error of that kind. It is "tls" for a connection that came
// about without a TLS session.
func CauseOf(k Kind, err error) string {
	if _, ok := errors.AsType[*tlsout.Error](err); ok && k == Connect {
		return "tls"
	}
	return k.Cause()
}

// String is Ribbon's name of the kind, its spelling included. NoServer, Cancelled and
// Aborted, which Ribbon does not tell apart, are GENERAL.
func (k Kind) String() string {
	switch k {
	case Configuration:
		return "CONFIGURATION"
	case NumberOfRetriesExceeded:
		return "NUMBEROF_RETRIES_EXEEDED"
	case NumberOfRetriesNextServerExceeded:
		return "NUMBEROF_RETRIES_NEXTSERVER_EXCEEDED"
	case SocketTimeout:
		return "SOCKET_TIMEOUT_EXCEPTION"
	case ReadTimeout:
		return "READ_TIMEOUT_EXCEPTION"
	case UnknownHost:
		return "UNKNOWN_HOST_EXCEPTION"
	case Connect:
		return "CONNECT_EXCEPTION"
	case ClientThrottled:
		return "CLIENT_THROTTLED"
	case ServerThrottled:
		return "SERVER_THROTTLED"
	case NoRouteToHost:
		return "NO_ROUTE_TO_HOST_EXCEPTION"
	case CacheMissing:
		return "CACHE_MISSING"
	case General, NoServer, Cancelled, Aborted:
	}
	return "GENERAL"
}
