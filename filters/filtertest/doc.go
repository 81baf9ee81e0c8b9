// Package filtertest is for tests of filters: a request in one line, filters
// run as the gateway runs them, an upstream that is a handler in memory.
//
//	c := filtertest.New(t, "GET /users/1?x=2", filtertest.Header("X-Api-Key", "k"))
//	err := filtertest.Run(t, c, myFilter)            // then look at c.Out, c.Response
//	got := filtertest.Serve(t, c, upstream, myFilter) // or at what the client got
package filtertest
