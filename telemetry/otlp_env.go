package telemetry

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/internal/headers"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// Env are the variables that OpenTelemetry has defined (OTEL_…), by name. Their values
// are not shown in errors, names of files aside.
type Env func(name string) string

// Disabled is OTEL_SDK_DISABLED.
func (e Env) Disabled() bool {
	return strings.EqualFold(strings.TrimSpace(e("OTEL_SDK_DISABLED")), "true")
}

// Signal names what is exported, as the variables do.
type Signal string

// The signals.
const (
	TracesSignal  Signal = "TRACES"
	MetricsSignal Signal = "METRICS"
)

// first is the variable of a signal, or the one for all signals.
func (e Env) first(signal Signal, name string) (variable, value string) {
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_" + string(signal) + "_" + name, "OTEL_EXPORTER_OTLP_" + name} {
		if value := strings.TrimSpace(e(variable)); value != "" {
			return variable, value
		}
	}
	return "", ""
}

// Exporter gives what the variables say about a signal. Its Endpoint is empty unless one
// is named, or OTEL_<SIGNAL>_EXPORTER asks for otlp, whose endpoint is on this machine by
// default.
func (e Env) Exporter(signal Signal) (x Exporter, err error) {
	chosen := strings.ToLower(strings.TrimSpace(e("OTEL_" + string(signal) + "_EXPORTER")))
	switch chosen {
	case "", "otlp", "none":
	default:
		return x, fmt.Errorf("telemetry: OTEL_%s_EXPORTER is neither otlp nor none", signal)
	}
	problems := []error{e.protocol(signal, &x), e.headers(signal, &x), e.compression(signal, &x), e.timeout(signal, &x), e.certificates(signal, &x)}
	if chosen != "none" {
		problems = append(problems, e.endpoint(signal, &x, chosen == "otlp"))
	}
	return x, errors.Join(problems...)
}

func (e Env) protocol(signal Signal, x *Exporter) error {
	switch variable, value := e.first(signal, "PROTOCOL"); value {
	case "", "http/protobuf":
	case "grpc":
		x.GRPC = true
	default:
		return fmt.Errorf("telemetry: %s is neither grpc nor http/protobuf", variable)
	}
	return nil
}

func (e Env) headers(signal Signal, x *Exporter) error {
	variable, value := e.first(signal, "HEADERS")
	pairs, err := keyValues(variable, value)
	if err != nil {
		return err
	}
	for name, v := range pairs {
		if headers.Check(name, []string{v}) != nil {
			return fmt.Errorf("telemetry: %s holds what is no header", variable)
		}
	}
	x.Headers = pairs
	return nil
}

func (e Env) compression(signal Signal, x *Exporter) error {
	switch variable, value := e.first(signal, "COMPRESSION"); value {
	case "", "none":
	case "gzip":
		x.Gzip = true
	default:
		return fmt.Errorf("telemetry: %s is neither gzip nor none", variable)
	}
	return nil
}

func (e Env) timeout(signal Signal, x *Exporter) (err error) {
	variable, value := e.first(signal, "TIMEOUT")
	x.Timeout, err = milliseconds(variable, value)
	return err
}

// milliseconds gives zero for no value.
func milliseconds(variable, value string) (time.Duration, error) {
	if value == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("telemetry: %s is no number of milliseconds", variable)
	}
	return time.Duration(n) * time.Millisecond, nil
}

// endpoint completes what may be a base URL, or for gRPC a mere host and port.
func (e Env) endpoint(signal Signal, x *Exporter, always bool) error {
	own := strings.TrimSpace(e("OTEL_EXPORTER_OTLP_" + string(signal) + "_ENDPOINT"))
	base := strings.TrimSpace(e("OTEL_EXPORTER_OTLP_ENDPOINT"))
	switch {
	case own != "":
		x.Endpoint = own
	case base != "" && x.GRPC:
		x.Endpoint = base
	case base != "":
		x.Endpoint = strings.TrimRight(base, "/") + "/v1/" + strings.ToLower(string(signal))
	case always && x.GRPC:
		x.Endpoint = "http://localhost:4317"
	case always:
		x.Endpoint = "http://localhost:4318/v1/" + strings.ToLower(string(signal))
	default:
		return nil
	}
	if x.GRPC && !strings.Contains(x.Endpoint, "://") {
		_, insecure := e.first(signal, "INSECURE")
		scheme := "https://"
		if strings.EqualFold(insecure, "true") {
			scheme = "http://"
		}
		x.Endpoint = scheme + x.Endpoint
	}
	return x.check()
}

// certificates reads the files that the variables name.
func (e Env) certificates(signal Signal, x *Exporter) error {
	var variables [3]string // by what tlsout calls the part
	var files tlsout.Files
	variables[tlsout.TrustCertificate], files.TrustCertificate = e.first(signal, "CERTIFICATE")
	variables[tlsout.Certificate], files.Certificate = e.first(signal, "CLIENT_CERTIFICATE")
	variables[tlsout.PrivateKey], files.PrivateKey = e.first(signal, "CLIENT_KEY")
	if files == (tlsout.Files{}) {
		return nil
	}
	m, err := files.Load()
	if broken, ok := errors.AsType[*tlsout.FileError](err); ok {
		return fmt.Errorf("telemetry: %s: %w", variables[broken.Part], broken)
	}
	x.TLS = m.Config()
	return err
}

// keyValues reads "a=b,c=d", the values percent-encoded.
func keyValues(variable, text string) (map[string]string, error) {
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !found || name == "" || err != nil {
			return nil, fmt.Errorf("telemetry: %s is no list of name=value", variable)
		}
		pairs[name] = value
	}
	return pairs, nil
}

// ResourceAttributes are OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME, which wins.
func (e Env) ResourceAttributes() (map[string]string, error) {
	all, err := keyValues("OTEL_RESOURCE_ATTRIBUTES", e("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		return nil, err
	}
	if name := e("OTEL_SERVICE_NAME"); name != "" {
		all["service.name"] = name
	}
	return all, nil
}

// Queue is OTEL_BSP_….
func (e Env) Queue() (s QueueSettings, err error) {
	var problems [4]error
	s.Delay, problems[0] = milliseconds("OTEL_BSP_SCHEDULE_DELAY", e("OTEL_BSP_SCHEDULE_DELAY"))
	s.ExportTimeout, problems[1] = milliseconds("OTEL_BSP_EXPORT_TIMEOUT", e("OTEL_BSP_EXPORT_TIMEOUT"))
	s.Size, problems[2] = e.count("OTEL_BSP_MAX_QUEUE_SIZE")
	s.Batch, problems[3] = e.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE")
	return s, errors.Join(problems[:]...)
}

// mostSpans bounds what the queue may take of memory.
const mostSpans = 1 << 17

func (e Env) count(variable string) (int, error) {
	text := strings.TrimSpace(e(variable))
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostSpans {
		return 0, fmt.Errorf("telemetry: %s is no number from 1 to %d", variable, mostSpans)
	}
	return n, nil
}

// Step is OTEL_METRIC_EXPORT_INTERVAL; zero if it is not set.
func (e Env) Step() (time.Duration, error) {
	return milliseconds("OTEL_METRIC_EXPORT_INTERVAL", e("OTEL_METRIC_EXPORT_INTERVAL"))
}

// Propagators is OTEL_PROPAGATORS; false if it is not set.
func (e Env) Propagators() (Formats, bool, error) {
	text := strings.TrimSpace(e("OTEL_PROPAGATORS"))
	if text == "" {
		return 0, false, nil
	}
	f, err := ParseFormats(strings.Split(text, ","))
	if err != nil {
		return 0, false, fmt.Errorf("OTEL_PROPAGATORS: %w", err)
	}
	return f, true, nil
}

// Sampling is OTEL_TRACES_SAMPLER with its OTEL_TRACES_SAMPLER_ARG: which share is
// sampled, and whether a parent's decision is not heeded. It is false if not set.
func (e Env) Sampling() (share float64, ignoreParent, set bool, err error) {
	name := strings.ToLower(strings.TrimSpace(e("OTEL_TRACES_SAMPLER")))
	if name == "" {
		return 0, false, false, nil
	}
	base, heeds := strings.CutPrefix(name, "parentbased_")
	switch base {
	case "always_on":
		share = 1
	case "always_off":
	case "traceidratio":
		share = 1
		if text := strings.TrimSpace(e("OTEL_TRACES_SAMPLER_ARG")); text != "" {
			share, err = strconv.ParseFloat(text, 64)
		}
		if err != nil || !(share >= 0 && share <= 1) {
			return 0, false, false, errors.New("telemetry: OTEL_TRACES_SAMPLER_ARG is no share from 0 to 1")
		}
	default:
		return 0, false, false, errors.New("telemetry: OTEL_TRACES_SAMPLER is none of always_on, always_off, traceidratio, and these with parentbased_")
	}
	return share, !heeds, true, nil
}
