package filters

import (
	"encoding/hex"
	"log/slog"
)

// Trace says which trace a request belongs to, whether it is sampled or not. The zero
// value means none: tracing is off. The span of a sampled request is in the context of
// Context.Request, where OpenTelemetry's trace.SpanFromContext finds it.
type Trace struct {
	TraceID [16]byte
	SpanID  [8]byte // of the gateway's own span, or of what stands for it towards upstreams
	Sampled bool
}

// Valid reports that there is a trace.
func (t Trace) Valid() bool { return t.TraceID != [16]byte{} }

// IDs gives both ids in hexadecimal digits, as logs have them; empty without a trace.
func (t Trace) IDs() (traceID, spanID string) {
	if !t.Valid() {
		return "", ""
	}
	return hex.EncodeToString(t.TraceID[:]), hex.EncodeToString(t.SpanID[:])
}

// Mark gives a logger that names the trace in every line, under the names that Spring
// Boot uses; without a trace it is l itself.
func (t Trace) Mark(l *slog.Logger) *slog.Logger {
	if !t.Valid() {
		return l
	}
	traceID, spanID := t.IDs()
	return l.With("traceId", traceID, "spanId", spanID)
}
