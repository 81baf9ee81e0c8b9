package hostport_test

import (
	"errors"
	"testing"

	"github.com/gozer-gateway/gozer/internal/hostport"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		want hostport.Address
		err  error
	}{
		{"h", hostport.Address{Host: "h", Port: 80}, nil},
		{" h:81 ", hostport.Address{Host: "h", Port: 81}, nil},
		{"HTTP://Host:81/", hostport.Address{Scheme: "http", Host: "Host", Port: 81}, nil},
		{"https://h", hostport.Address{Scheme: "https", Host: "h", Port: 443}, nil},
		{"[::1]:9001", hostport.Address{Host: "::1", Port: 9001}, nil},
		{"https://[fe80::1%25eth0]", hostport.Address{Scheme: "https", Host: "fe80::1%eth0", Port: 443}, nil},
		{"ftp://h", hostport.Address{}, hostport.ErrScheme},
		{"http://h/app", hostport.Address{}, hostport.ErrPath},
		{"http:9001", hostport.Address{}, hostport.ErrMisplaced},
		{"::1:9001", hostport.Address{}, hostport.ErrHost},
		{"[h]:1", hostport.Address{}, hostport.ErrHost},
		{"u@h", hostport.Address{}, hostport.ErrHost},
		{":9001", hostport.Address{}, hostport.ErrHostless},
		{"", hostport.Address{}, hostport.ErrHostless},
		{"h:0", hostport.Address{}, hostport.ErrPort},
		{"h:65536", hostport.Address{}, hostport.ErrPort},
		{"h:http", hostport.Address{}, hostport.ErrPort},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := hostport.Parse(tt.text)
			if !errors.Is(err, tt.err) || err == nil && got != tt.want {
				t.Errorf("got %+v, %v; want %+v, %v", got, err, tt.want, tt.err)
			}
		})
	}
}
