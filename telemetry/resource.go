package telemetry

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"os"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Resource describes the process that telemetry comes from. given wins over what is
// found out; it usually has service.name.
func Resource(version string, given map[string]string) *resource.Resource {
	all := map[string]string{
		string(semconv.ServiceVersionKey):       version,
		string(semconv.ServiceInstanceIDKey):    instanceID(),
		string(semconv.TelemetrySDKNameKey):     "opentelemetry",
		string(semconv.TelemetrySDKLanguageKey): "go",
		string(semconv.TelemetrySDKVersionKey):  sdk.Version(),
	}
	if host, err := os.Hostname(); err == nil {
		all[string(semconv.HostNameKey)] = host
	}
	maps.Copy(all, given)
	attributes := make([]attribute.KeyValue, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		attributes = append(attributes, attribute.String(name, all[name]))
	}
	return resource.NewWithAttributes(semconv.SchemaURL, attributes...)
}

// instanceID tells the processes of a service apart.
func instanceID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
