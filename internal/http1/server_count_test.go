package http1_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/http1"
)

func TestServerCounts(t *testing.T) {
	var count http1.ServerCount
	addr := serving(t, &http1.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
		Count:   &count,
	})
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
	} {
		c := dialRaw(t, addr)
		c.send(request)
		c.rest()
		eventually(t, func() bool { return count.Open.Load() == 0 })
	}
	want := map[http1.Error]int64{
		{Status: 200, Reason: "request about the server"}:       1,
		{Status: 400, Reason: "no Host"}:                        2,
		{Status: 505, Reason: "protocol version not supported"}: 1,
	}
	if diff := cmp.Diff(want, count.Answered()); diff != "" {
		t.Error(diff)
	}
	if count.Accepted.Load() != 5 {
		t.Errorf("%d accepted", count.Accepted.Load())
	}
}
