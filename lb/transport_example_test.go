package lb_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/lb/rest"
)

// A client of one's own, outside of a gateway: the host of a URL is the name of a service.
func ExampleNewTransport() {
	server := func(name string) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"name": "user %s of %s"}`, r.URL.Path[len("/users/"):], name)
		}))
	}
	first, second := server("first"), server("second")
	defer first.Close()
	defer second.Close()

	servers, err := lb.ParseServers(first.URL, second.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	balancer := lb.NewBalancer("user-service", lb.BalancerSettings{})
	balancer.SetServers(servers)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	services := lb.NewDirectory(map[string]*lb.Command{"user-service": {
		Balancer:  balancer,
		Transport: transport,
		Retry:     lb.DefaultRetryPolicy(),
		Budget:    lb.NewRetryBudget(lb.DefaultBudgetSettings()),
	}})
	client := rest.New(&http.Client{Transport: lb.NewTransport(services, nil)})

	type user struct{ Name string }
	for id := range 3 {
		u, err := rest.GetObject[user](context.Background(), client, "http://user-service/users/{id}", id)
		fmt.Println(u.Name, err)
	}
	// Output:
	// user 0 of first <nil>
	// user 1 of second <nil>
	// user 2 of first <nil>
}
