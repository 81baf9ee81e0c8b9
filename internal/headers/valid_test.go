package headers_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/internal/headers"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		name, field, value string
		ok                 bool
	}{
		{"plain", "X-A", "b", true},
		{"odd but allowed", "!#$%&'*+-.^_`|~0a", "\t ü", true},
		{"empty value", "X-A", "", true},
		{"no name", "", "b", false},
		{"blank in name", "X A", "b", false},
		{"colon in name", "X:A", "b", false},
		{"name beyond ASCII", "Xü", "b", false},
		{"line break", "X-A", "a\r\nX-B: c", false},
		{"NUL", "X-A", "a\x00", false},
		{"DEL", "X-A", "a\x7f", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := headers.Check(tt.field, []string{"fine", tt.value}); (err == nil) != tt.ok {
				t.Errorf("Check = %v, want ok %v", err, tt.ok)
			}
		})
	}
}
