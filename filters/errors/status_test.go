package errorfilter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	errorfilter "github.com/gozer-gateway/gozer/filters/errors"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/routing"
)

var (
	errRefused     = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	errDialTimeout = &net.OpError{Op: "dial", Net: "tcp", Err: timeout{}}
	errUnknownHost = &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "nowhere.test", IsNotFound: true}}
	errReadTimeout = http1.ErrReadTimeout
)

type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// service is how the failure of a service route reaches the error phase.
func service(o ribboncmd.Outcome, err error) error {
	return &filters.FilterError{
		Phase: filters.Route, Filter: "RibbonRoutingFilter",
		Err: &ribboncmd.Error{Service: "users", Outcome: o, Execution: o, Err: err, FallbackErr: ribboncmd.ErrNoFallback},
	}
}

func call(err error) error { return service(ribboncmd.Failure, lb.NewError("users", err)) }

// exhausted is a call that failed on its last server.
func exhausted(err error) error {
	last := lb.NewError("users", err)
	return service(ribboncmd.Failure, &lb.Error{
		Service: "users", Kind: lb.NumberOfRetriesNextServerExceeded, Err: err,
		Attempts: []lb.Attempt{{Kind: lb.Connect, Err: errRefused}, {Kind: last.Kind, Err: err}},
	})
}

func ofKind(k lb.Kind) error {
	return service(ribboncmd.Failure, &lb.Error{Service: "users", Kind: k, Err: errors.New("as the kind says")})
}

// host is how the failure of a URL route reaches the error phase.
func host(err error) error {
	return &filters.FilterError{Phase: filters.Route, Filter: "SimpleHostRoutingFilter", Err: lb.NewError("h.test", err)}
}

func custom(phase filters.Phase, err error) error {
	return &filters.FilterError{Phase: phase, Filter: "Custom", Err: err}
}

func TestStatus(t *testing.T) {
	refusal := filters.Refuse(418, "teapot")
	tests := map[string]struct {
		err    error
		status int
		cause  string
	}{
		"S44 C128 connection refused":           {call(errRefused), 502, "CONNECT_EXCEPTION"},
		"S44 C128 refused by all servers":       {exhausted(errRefused), 502, "NUMBEROF_RETRIES_NEXTSERVER_EXCEEDED"},
		"S44 C128 all servers silent":           {exhausted(errReadTimeout), 504, "NUMBEROF_RETRIES_NEXTSERVER_EXCEEDED"},
		"S44 C128 connect timeout":              {call(errDialTimeout), 504, "CONNECT_EXCEPTION"},
		"S44 C128 read timeout":                 {call(errReadTimeout), 504, "READ_TIMEOUT_EXCEPTION"},
		"S44 C128 answer with garbage":          {call(errors.New("malformed HTTP response")), 502, "GENERAL"},
		"S44 C128 answer cut in its head":       {call(io.ErrUnexpectedEOF), 502, "GENERAL"},
		"S44 C128 no server in the list":        {call(lb.ErrNoServer), 503, "NO_SERVER"},
		"S44 C128 circuit open":                 {service(ribboncmd.ShortCircuited, ribboncmd.ErrShortCircuited), 503, "SHORTCIRCUIT"},
		"zuul 140 unknown host":                 {call(errUnknownHost), 502, "UNKNOWN_HOST_EXCEPTION"},
		"zuul 140 throttled":                    {ofKind(lb.ServerThrottled), 503, "SERVER_THROTTLED"},
		"client throttled":                      {ofKind(lb.ClientThrottled), 503, "CLIENT_THROTTLED"},
		"no way to the host":                    {call(&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}), 502, "NO_ROUTE_TO_HOST_EXCEPTION"},
		"configuration":                         {ofKind(lb.Configuration), 500, "CONFIGURATION"},
		"the deadline reached the call":         {ofKind(lb.SocketTimeout), 504, "SOCKET_TIMEOUT_EXCEPTION"},
		"no free connection":                    {call(http1.ErrPoolExhausted), 503, "CONNECT_EXCEPTION"},
		"Hystrix timeout":                       {service(ribboncmd.Timeout, ribboncmd.ErrTimeout), 504, "TIMEOUT"},
		"semaphore full":                        {service(ribboncmd.SemaphoreRejected, ribboncmd.ErrSemaphoreRejected), 503, "REJECTED_SEMAPHORE_EXECUTION"},
		"pool full":                             {service(ribboncmd.ThreadPoolRejected, ribboncmd.ErrThreadPoolRejected), 503, "REJECTED_THREAD_EXECUTION"},
		"fallbacks full":                        {service(ribboncmd.FallbackRejected, errReadTimeout), 503, "REJECTED_SEMAPHORE_FALLBACK"},
		"a call that fails in a way of its own": {service(ribboncmd.Failure, errors.New("odd")), 500, "COMMAND_EXCEPTION"},
		"bad request":                           {service(ribboncmd.BadRequest, errors.New("odd")), 400, "BAD_REQUEST_EXCEPTION"},
		"unknown service":                       {&filters.FilterError{Phase: filters.Route, Filter: "RibbonRoutingFilter", Err: lb.NewError("u", lb.ErrNoServer)}, 503, "NO_SERVER"},

		"URL route refused":       {host(errRefused), 502, "CONNECT_EXCEPTION"},
		"URL route read timeout":  {host(errReadTimeout), 504, "READ_TIMEOUT_EXCEPTION"},
		"URL route unknown host":  {host(errUnknownHost), 502, "UNKNOWN_HOST_EXCEPTION"},
		"URL route with garbage":  {host(errors.New("malformed HTTP response")), 502, "GENERAL"},
		"someone's route filter":  {custom(filters.Route, &url.Error{Op: "Get", URL: "http://x", Err: errDialTimeout}), 504, "CONNECT_EXCEPTION"},
		"someone's pre filter":    {custom(filters.Pre, errRefused), 500, "pre:Custom"},
		"zuul 148 pre fails":      {custom(filters.Pre, errors.New("x")), 500, "pre:Custom"},
		"zuul 148 route fails":    {custom(filters.Route, errors.New("x")), 500, "route:Custom"},
		"zuul 148 post fails":     {custom(filters.Post, errors.New("x")), 500, "post:Custom"},
		"post asks a service":     {custom(filters.Post, lb.NewError("u", errRefused)), 500, "post:Custom"},
		"a panic":                 {custom(filters.Pre, &filters.PanicError{Value: "v"}), 500, "pre:Custom"},
		"zuul 147 status chosen":  {custom(filters.Pre, filters.Refuse(404, "gone astray")), 404, "gone astray"},
		"zuul 8.3 418":            {custom(filters.Pre, refusal), 418, "teapot"},
		"zuul 8.3 wrapped 418":    {custom(filters.Post, fmt.Errorf("brewing: %w", refusal)), 418, "teapot"},
		"a status that is none":   {custom(filters.Pre, filters.Refuse(0, "zero")), 500, "zero"},
		"a status that is final?": {custom(filters.Pre, filters.Refuse(103, "early")), 500, "early"},
		"body too large":          {call(&http.MaxBytesError{Limit: 1}), 413, "Request body too large"},
		"body too large at once":  {&http.MaxBytesError{Limit: 1}, 413, "Request body too large"},
		"unsafe path":             {custom(filters.Pre, routing.ErrUnsafePath), 400, "Unsafe path"},
		"unknown":                 {errors.New("x"), 500, ""},
		"client gone":             {custom(filters.Post, fmt.Errorf("%w: reset", filters.ErrClientGone)), 0, ""},
		"caller gone":             {service(ribboncmd.Cancelled, context.Canceled), 0, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /users")
			c.Err = test.err
			want := errorfilter.Answer{Status: test.status, Cause: test.cause}
			if got := (errorfilter.Mapping{}).Answer(c); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	t.Run("docs/operations.md has a row for each", func(t *testing.T) {
		page, err := os.ReadFile("../../docs/operations.md")
		if err != nil {
			t.Fatal(err)
		}
		neverMade := []string{"CLIENT_THROTTLED", "CONFIGURATION"}
		for name, test := range tests {
			if test.cause == strings.ToUpper(test.cause) && test.cause != "" && !slices.Contains(neverMade, test.cause) && !hasRow(string(page), test.status, test.cause) {
				t.Errorf("%s: no row for %d %s", name, test.status, test.cause)
			}
		}
	})
}

// hasRow reports whether a row of the page's table of statuses has this status and this cause.
func hasRow(page string, status int, cause string) bool {
	for line := range strings.Lines(page) {
		cells := strings.Split(line, " | ")
		if len(cells) == 4 && strings.Contains(cells[0], strconv.Itoa(status)) && strings.Contains(cells[1], "`"+cause+"`") {
			return true
		}
	}
	return false
}

func TestCompatStatus(t *testing.T) {
	const readTimedOut = "com.netflix.zuul.exception.ZuulException: Hystrix Readed time out"
	tests := map[string]struct {
		err       error
		retryable bool
		status    int
		cause     string
	}{
		"zuul 139 read timeout":            {call(errReadTimeout), false, 504, readTimedOut},
		"zuul 139 after the next server":   {exhausted(errReadTimeout), false, 504, readTimedOut},
		"zuul 138 read timeout, retryable": {exhausted(errReadTimeout), true, 500, "COMMAND_EXCEPTION"},
		"refused":                          {call(errRefused), false, 500, "GENERAL"},
		"refused by all servers":           {exhausted(errRefused), false, 500, "GENERAL"},
		"zuul 140 unknown host":            {call(errUnknownHost), false, 500, "GENERAL"},
		"errRefused, retryable":            {exhausted(errRefused), true, 500, "COMMAND_EXCEPTION"},
		"zuul 146 no server":               {call(lb.ErrNoServer), false, 500, "GENERAL"},
		"no server, retryable":             {call(lb.ErrNoServer), true, 500, "GENERAL"},
		"pool wait":                        {call(http1.ErrPoolExhausted), false, 500, "GENERAL"},
		"Hystrix timeout":                  {service(ribboncmd.Timeout, ribboncmd.ErrTimeout), false, 500, "TIMEOUT"},
		"circuit open":                     {service(ribboncmd.ShortCircuited, ribboncmd.ErrShortCircuited), true, 500, "SHORTCIRCUIT"},
		"semaphore full":                   {service(ribboncmd.SemaphoreRejected, ribboncmd.ErrSemaphoreRejected), false, 500, "REJECTED_SEMAPHORE_EXECUTION"},
		"pool full":                        {service(ribboncmd.ThreadPoolRejected, ribboncmd.ErrThreadPoolRejected), false, 500, "REJECTED_THREAD_EXECUTION"},
		"fallbacks full":                   {service(ribboncmd.FallbackRejected, errRefused), false, 500, "REJECTED_SEMAPHORE_FALLBACK"},
		"zuul 140 throttled":               {ofKind(lb.ServerThrottled), true, 503, "SERVER_THROTTLED"},
		"fails in a way of its own":        {service(ribboncmd.Failure, errors.New("odd")), false, 500, "COMMAND_EXCEPTION"},
		"insecure path":                    {custom(filters.Pre, routing.ErrUnsafePath), false, 500, "pre:PreDecorationFilter"},
		"custom status":                    {custom(filters.Pre, filters.Refuse(429, "rl")), false, 429, "rl"},
		"custom error":                     {custom(filters.Post, errors.New("x")), false, 500, "post:Custom"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /users")
			c.Err, c.Retryable = test.err, test.retryable
			want := errorfilter.Answer{Status: test.status, Cause: test.cause}
			if got := (errorfilter.Mapping{Compat: true}).Answer(c); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestCompatStatusOfURLRoutes(t *testing.T) {
	tests := map[string]struct {
		err   error
		cause string
	}{
		"read timeout": {host(errReadTimeout), "Read timed out"},
		"refused":      {host(errRefused), "dial tcp: connection refused"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /users")
			c.Out.URL = &url.URL{Scheme: "http", Host: "h.test"}
			c.Err = test.err
			want := errorfilter.Answer{Status: 500, Cause: test.cause}
			if got := (errorfilter.Mapping{Compat: true}).Answer(c); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
