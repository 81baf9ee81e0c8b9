// Package interop holds the tests against the real thing: a Eureka server and a
// client of Spring Cloud, and the npm client eureka-js-client, built from their public
// artifacts. `make interop` builds and runs them; without that they are skipped.
package interop
