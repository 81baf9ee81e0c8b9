package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/gozer-gateway/gozer/internal/grpc"
)

// callAttributes are those of a gRPC call that has ended.
func callAttributes(code grpc.Code) []attribute.KeyValue {
	return []attribute.KeyValue{semconv.RPCSystemNameGRPC, semconv.RPCResponseStatusCode(nameOf(code))}
}

// nameOf is that of a code; servers make up others, which have one name here.
func nameOf(code grpc.Code) string {
	if code < 0 || code > grpc.Unauthenticated {
		return "_OTHER"
	}
	return code.String()
}

// serversFault tells of the codes that are errors of a server by the semantic conventions.
func serversFault(code grpc.Code) bool {
	switch code {
	case grpc.Unknown, grpc.DeadlineExceeded, grpc.Unimplemented, grpc.Internal, grpc.Unavailable, grpc.DataLoss:
		return true
	default:
		return false
	}
}
