package demo

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Hello answers the "forward:" route of the sample gateway.yaml.
func Hello() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "hello from the gateway itself, at "+strconv.Quote(r.URL.Path)+"\n") // the client may have gone
	})
}

// Tour lists the requests worth trying, for the ports the gateway listens on.
func Tour(proxy, management int) string {
	return fmt.Sprintf(`Gozer's demo is running. In another terminal, try:

  curl http://127.0.0.1:%[1]d/users/7                  # a service: two instances take turns
  curl "http://127.0.0.1:%[1]d/legacy/orders?x=1"      # a URL route: see what the upstream saw
  curl http://127.0.0.1:%[1]d/local/you                # a handler of the gateway itself
  curl http://127.0.0.1:%[1]d/nowhere                  # no route: Spring's error body
  curl http://127.0.0.1:%[2]d/actuator/routes          # what is routed where
  curl http://127.0.0.1:%[2]d/actuator/filters         # which filters run

Press Ctrl-C to stop.

`, proxy, management)
}
