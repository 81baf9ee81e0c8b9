// Package rest makes typed calls over an http.Client, in the manner of Spring's
// RestTemplate: URI templates, JSON in and out, an error for every status from 400 on.
//
//	users := rest.New(c.Client()) // a filter's load-balanced client
//	user, err := rest.GetObject[User](ctx, users, "http://user-service/users/{id}", 42)
//
// A template is text that is not yet encoded: a percent sign in it is sent as %25. For
// a URL that is encoded already there is Request.URL.
//
// Variables are given by position, or by name with Vars as the only argument:
//
//	rest.GetObject[User](ctx, users, "http://user-service/{tenant}/{id}", "acme", 42)
//	rest.GetObject[User](ctx, users, "http://user-service/{tenant}/{id}", rest.Vars{"tenant": "acme", "id": 42})
package rest
