// Command reverseproxy is the gateway that a page of Go makes of net/http and
// httputil.ReverseProxy. The comparison in bench/compare measures it beside Gozer.
package main

import (
	"flag"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "`address` to listen at")
	backends := flag.String("backends", "", "`host:port,host:port` that take turns")
	flag.Parse()

	server := http.Server{
		Addr:              *listen,
		Handler:           proxy(strings.Split(*backends, ",")),
		ReadHeaderTimeout: 10 * time.Second,
	}
	if err := server.ListenAndServe(); err != nil {
		slog.Error("reverseproxy ends", "error", err)
		os.Exit(1)
	}
}

// proxy keeps as many connections as the comparison has clients: the default of
// two per host would measure connecting.
func proxy(backends []string) *httputil.ReverseProxy {
	var turn atomic.Uint64
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			next := backends[turn.Add(1)%uint64(len(backends))]
			r.SetURL(&url.URL{Scheme: "http", Host: next})
			r.SetXForwarded()
		},
		Transport: &http.Transport{MaxIdleConns: 2048, MaxIdleConnsPerHost: 1024, DisableCompression: true},
	}
}
