package grpc_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/grpc"
)

func TestTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1n": 1, "20u": 20 * time.Microsecond, "300m": 300 * time.Millisecond, "4S": 4 * time.Second, "5M": 5 * time.Minute, "6H": 6 * time.Hour,
		"99999999H": math.MaxInt64, "0S": 0,
		"": -1, "S": -1, "1": -1, "1s": -1, "-1S": -1, "+1S": -1, "123456789n": -1, "1.5S": -1, "1 S": -1,
	} {
		got, ok := grpc.Timeout(http.Header{"Grpc-Timeout": {text}})
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-5: "0n", 0: "0n", 99_999_999: "99999999n", 100_000_000: "100000u", time.Second + 1: "1000001u", 90 * time.Hour: "324000S", math.MaxInt64: "2562048H",
	} {
		got := grpc.FormatTimeout(d)
		back, ok := grpc.Timeout(http.Header{"Grpc-Timeout": {got}})
		if got != want || !ok || back < d {
			t.Errorf("%d: %s, which is %d; want %s", d, got, back, want)
		}
	}
}

func TestMessage(t *testing.T) {
	for text, want := range map[string]string{"plain text~": "plain text~", "50 %": "50 %25", "a\r\nb": "a%0D%0Ab", "ü": "%C3%BC", "": ""} {
		if got := grpc.EncodeMessage(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestIsCall(t *testing.T) {
	for kind, want := range map[string]bool{
		"application/grpc": true, "application/grpc+proto": true, "Application/GRPC; charset=x": true,
		"application/grpc-web": false, "application/grpc-web+proto": false, "application/json": false, "": false,
	} {
		if got := grpc.IsCall(http.MethodPost, http.Header{"Content-Type": {kind}}); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
	if grpc.IsCall(http.MethodGet, http.Header{"Content-Type": {grpc.ContentType}}) || grpc.IsCall(http.MethodPost, nil) {
		t.Error("GET, or a POST without a type")
	}
}

func TestCodes(t *testing.T) {
	for status, want := range map[int]grpc.Code{
		400: grpc.Internal, 401: grpc.Unauthenticated, 403: grpc.PermissionDenied, 404: grpc.Unimplemented, 405: grpc.Unimplemented,
		408: grpc.DeadlineExceeded, 413: grpc.ResourceExhausted, 429: grpc.Unavailable, 431: grpc.ResourceExhausted,
		500: grpc.Unknown, 502: grpc.Unavailable, 503: grpc.Unavailable, 504: grpc.DeadlineExceeded, 418: grpc.Unknown,
	} {
		if got := grpc.CodeOf(status); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	for text, want := range map[string]grpc.Code{"unavailable": 14, "14": 14, " OK": 0, "CANCELED": 1, "cancelled": 1} {
		if got, ok := grpc.ParseCode(text); !ok || got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	for _, text := range []string{"17", "-1", "", "BUSY"} {
		if got, ok := grpc.ParseCode(text); ok {
			t.Errorf("%q: %s", text, got)
		}
	}
}
