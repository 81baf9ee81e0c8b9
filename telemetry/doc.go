// Package telemetry counts what the gateway does and shows it to monitoring.
//
// What a request costs is fixed when a snapshot is built: its route and service have
// counters by then, which an Observer finds by pointer and adds to without a lock. The
// rest is read from the parts of the gateway when somebody asks.
package telemetry
